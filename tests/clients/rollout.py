"""Rollouts of our own making, in the shapes that Codex writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from catmem.clients.readers import reader_of
from catmem.domain.message import Message

ID = "0199aaaa-0000-7000-8000-00000000beef"
FOLDER = "/home/kim/kettle"


class Rollout:
    """Collects lines; a minute passes with each."""

    def __init__(self, session: str = ID, day: int = 1, **meta: Any) -> None:
        self.session, self.day, self.minute = session, day, 0
        self.lines: list[dict[str, Any] | str] = []
        self.line("session_meta", {"id": session, "cwd": FOLDER, "cli_version": "0.160.0", "source": "cli", **meta})

    def line(self, kind: str, payload: dict[str, Any]) -> Rollout:
        self.minute += 1
        at = f"2026-04-{self.day:02d}T{8 + self.minute // 60:02d}:{self.minute % 60:02d}:00.000Z"
        self.lines.append({"timestamp": at, "type": kind, "payload": payload})
        return self

    def event(self, kind: str, **fields: Any) -> Rollout:
        return self.line("event_msg", {"type": kind, **fields})

    def item(self, kind: str, **fields: Any) -> Rollout:
        return self.line("response_item", {"type": kind, **fields})

    def turn(self, name: str) -> Rollout:
        return self.event("task_started", turn_id=name)

    def context(self, *texts: str, kinds: tuple[str, ...] = (), role: str = "user", **fields: Any) -> Rollout:
        """A message in the context that the model sees."""
        content = [{"type": "input_text", "text": text} for text in texts]
        if kinds:
            fields["internal_chat_message_metadata_passthrough"] = {"content_item_kinds": list(kinds)}
        return self.item("message", role=role, content=content, **fields)

    def typed(self, text: str, item: str = "i") -> Rollout:
        """As newer versions tell what was typed."""
        content = [{"type": "text", "text": text}]
        return self.event("item_completed", item={"type": "UserMessage", "id": item, "content": content})

    def asked(self, text: str) -> Rollout:
        """As older versions tell it, twice."""
        self.context(text)
        self.minute -= 1
        return self.event("user_message", message=text, images=[])

    def says(self, text: str) -> Rollout:
        return self.item("message", role="assistant", content=[{"type": "output_text", "text": text}])

    def data(self) -> bytes:
        spelled = [line if isinstance(line, str) else json.dumps(line, ensure_ascii=False) for line in self.lines]
        return "".join(line + "\n" for line in spelled).encode("utf-8", "surrogatepass")

    def write(self, folder: Path, name: str = "") -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / (name or f"rollout-2026-04-{self.day:02d}T08-00-00-{self.session}.jsonl")
        path.write_bytes(self.data())
        return path


def told(path: Path, client: str = "codex") -> list[tuple[str, str]]:
    """Who says what in a file."""
    return [(m.role, m.content) for m in messages(path, client)]


def messages(path: Path, client: str = "codex") -> list[Message]:
    return [message for chunk in reader_of(client).chunks(path) for message in chunk.messages]
