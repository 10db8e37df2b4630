"""Which of its accounts of one talk a rollout keeps: every message may stand in it once, twice or three times."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from catmem.clients.codex import wire
from catmem.clients.compressed import opened
from catmem.clients.lines import read_lines, records_of


@dataclass(slots=True)
class Survey:
    """The rule: items alone are what was typed; without them events; without these the context.

    A session may outlive an upgrade of the program: each account counts where the better one has not begun.

    first_item  the line of the first typed item: from there on nothing else is typed; 0 if there is none
    last_event  the last line before it with a typed message among the events; 0 if there is none
    replies     where the assistant speaks: "item" (of the context), "completed" or "event"
    """

    first_item: int = 0
    last_event: int = 0
    replies: str = "event"

    def counts_events(self, line: int) -> bool:
        return not self.first_item or line < self.first_item

    def counts_context(self, line: int, *, is_marked: bool) -> bool:
        """`is_marked`: the program says of the words that a person typed them, as it does since about 0.150."""
        after_events = line > self.last_event and is_marked if self.last_event else True
        return self.counts_events(line) and after_events

    def is_complete(self) -> bool:
        return bool(self.first_item) and self.replies == "item"

    def take(self, record: object, line: int) -> None:
        kind, payload = wire.opened(record)
        if kind == "response_item" and payload.get("type") == "message" and payload.get("role") == "assistant":
            self.replies = "item"
        elif kind == "event_msg" and wire.user_item(payload):
            self.first_item = self.first_item or line
        elif kind == "event_msg" and payload.get("type") == "user_message" and not self.first_item:
            self.last_event = line
        elif kind == "event_msg" and wire.agent_item(payload) and self.replies == "event":
            self.replies = "completed"


def survey(path: Path) -> Survey:
    """Reads through a rollout; only lines that may decide are parsed. Raises OSError."""
    found = Survey()
    with opened(path) as file:
        for line in read_lines(file):
            raw = line.raw
            if raw is None or not _may_decide(raw, found):
                continue
            for record in records_of(raw, wire.HEADS)[0]:
                found.take(record, line.number)
            if found.is_complete():
                break
    return found


def _may_decide(raw: bytes, found: Survey) -> bool:
    return bool(
        (not found.first_item and b'"UserMessage"' in raw)
        or (not found.first_item and b'"user_message"' in raw)
        or (found.replies != "item" and b'"assistant"' in raw)
        or (found.replies == "event" and b'"AgentMessage"' in raw)
    )
