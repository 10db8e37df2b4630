"""From the records of a rollout to messages: which of its accounts counts, what hangs from what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from catmem.clients import reasons
from catmem.clients.codex import typed, wire
from catmem.clients.codex.fork import Replay
from catmem.clients.codex.survey import Survey
from catmem.clients.codex.wire import Record
from catmem.clients.draft import TOOL_LIMIT, Draft, text_of, tool_call, usage_of
from catmem.clients.lines import shortened
from catmem.clients.own_tools import RECALLED, is_own_tool
from catmem.domain.clock import parse_instant, seconds_of
from catmem.domain.message import Role, ToolCall

_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
# An event and an item that tell of one typed message are written together.
_TOGETHER = 5.0


@dataclass(slots=True)
class _Entry:
    role: Role
    text: str
    at: object
    uid: str
    parent: str
    line: int
    kind: str = ""
    calls: list[ToolCall] = field(default_factory=list)
    call_id: str = ""
    usage: dict[str, int] | None = None
    context: bool = False  # told by the context only


class Assembly:
    """Takes the records of a file in; `flush` gives what was found since the last time to the draft."""

    def __init__(self, draft: Draft, session: str, survey: Survey, *, last: str = "") -> None:
        self.draft = draft
        self.replay: Replay | None = None
        self.agent = False
        self.last = last
        self.prompts: dict[str, str] = {}
        self._session = session
        self._survey = survey
        self._entries: list[_Entry] = []
        self._turn = ""
        self._named: set[str] = set()
        self._before: list[str] = []  # what each typed message follows
        self._tools: dict[str, str] = {}
        self._dated = True

    def take(self, record: object, line: int, part: int = 0) -> None:
        """One record; `part` counts those of one line."""
        kind, payload = wire.opened(record)
        if not isinstance(record, dict):
            self.draft.fault(reasons.NOT_A_RECORD, line)
            return
        self.draft.read()
        if not kind or (self.replay and self.replay.holds(line, kind, payload)):
            return
        self._dated = payload is not record
        self._turn = wire.turn_of(payload) or self._turn
        uid = f"{self._session}:{line}" + (f".{part}" if part else "")
        at = record.get("timestamp")
        if kind == "response_item":
            self._item(record, payload, at, uid, line)
        elif kind == "event_msg":
            self._event(record, payload, at, uid, line)
        elif kind == "compacted":
            self._compacted(text_of(payload.get("message")), at, uid, line)
        elif kind in ("session_meta", "turn_context"):
            self.draft.cwd = self.draft.cwd or text_of(payload.get("cwd"))

    def flush(self) -> None:
        """Ends a part of the file. What an agent and its subagent say to each other is nobody's words."""
        for entry in self._entries:
            role, kind = entry.role, entry.kind
            if self.agent:
                role, kind = ("tool" if role == "tool" else "system"), "agent"
            self.draft.say(
                role,
                entry.text,
                entry.at,
                uid=entry.uid,
                line=entry.line,
                parent=entry.parent,
                kind=kind,
                calls=entry.calls,
                call_id=entry.call_id,
                usage=entry.usage,
                dated=self._dated,
            )
        self._entries = []

    # Records of the context

    def _item(self, record: Record, payload: Record, at: object, uid: str, line: int) -> None:
        kind = payload.get("type")
        if kind == "message":
            self._message(record, payload, at, uid, line)
        elif kind in _CALLS:
            call_id = text_of(payload.get("call_id")) or text_of(payload.get("id")) or uid
            self._call(call_id, payload, at, uid, line)
        elif kind in _OUTPUTS:
            self._output(text_of(payload.get("call_id")), wire.output_of(payload), at, uid, line)

    def _message(self, record: Record, payload: Record, at: object, uid: str, line: int) -> None:
        role, texts = payload.get("role"), wire.texts_of(payload.get("content"))
        if role == "user":
            self._said_in_context(record, payload, texts, at, uid, line)
        elif role == "assistant":
            if self._survey.replies == "item":
                self._add("assistant", "\n\n".join(text for text in texts if text.strip()), at, uid, line)
            call = payload.get("function_call")
            if isinstance(call, dict):
                self._call(uid, call, at, f"{uid}.call", line)
        elif role in ("function", "tool"):
            called = next(reversed(self._tools), "")
            self._output(text_of(payload.get("tool_call_id")) or called, "\n".join(texts), at, uid, line)

    def _said_in_context(
        self, record: Record, payload: Record, texts: list[str], at: object, uid: str, line: int
    ) -> None:
        said: list[str] = []
        notes: list[tuple[str, str]] = []
        kinds = wire.kinds_of(payload, len(texts))
        for text, kind in zip(texts, kinds, strict=True):
            if kind and not kind.startswith("user."):
                continue
            words, other, note = typed.separate(text)
            said += [words] if words else []
            notes += [(other, note)] if note else []
        counts = self.agent or self._survey.counts_context(line, is_marked=any(kinds))
        if said and counts and not wire.is_inherited(record, payload):
            self._typed("\n".join(said), at, uid, line, context=True)
        for number, (kind, note) in enumerate(notes):
            self._add("system", note, at, f"{uid}.note{number or ''}", line, kind=kind)

    def _call(self, call_id: str, payload: Record, at: object, uid: str, line: int) -> None:
        name = wire.call_name(payload)
        self._tools[call_id] = name
        self._add("assistant", "", at, uid, line, calls=[tool_call(call_id, name, wire.call_arguments(payload))])

    def _output(self, call_id: str, text: str, at: object, uid: str, line: int) -> None:
        own = is_own_tool(self._tools.get(call_id, ""))
        # A tool may have printed nothing; that it was done is part of the talk.
        self._add("tool", RECALLED if own else text or "[no output]", at, uid, line, call_id=call_id)

    # Events

    def _event(self, record: Record, payload: Record, at: object, uid: str, line: int) -> None:
        kind = payload.get("type")
        item, spoken = wire.user_item(payload), wire.agent_item(payload)
        if item is not None and not self.agent:
            said = typed.separate("\n".join(wire.texts_of(item.get("content"))))[0]
            if said and not wire.is_inherited(record, payload):
                self._forget_accounts(said, at)
                self._typed(said, at, uid, line)
        elif kind == "user_message" and not self.agent:
            if self._survey.counts_events(line):
                said = typed.separate(text_of(payload.get("message")))[0]
                parts = [said, *wire.pictures_of(payload)]
                if any(parts) and not wire.is_inherited(record, payload):
                    self._typed("\n".join(part for part in parts if part), at, uid, line)
        elif spoken is not None and self._survey.replies == "completed":
            self._add("assistant", "\n\n".join(wire.texts_of(spoken.get("content"))), at, uid, line)
        elif kind == "agent_message" and self._survey.replies == "event":
            self._add("assistant", text_of(payload.get("message")), at, uid, line)
        elif kind == "token_count":
            self._counted(payload)
        elif kind == "thread_rolled_back":
            self._rolled_back(payload.get("num_turns"))

    def _forget_accounts(self, said: str, at: object) -> None:
        """The first item of a file may tell of what the context or an event before it told."""
        while self._entries and self._entries[-1].role == "user" and self._survey.counts_events(self._entries[-1].line):
            entry = self._entries[-1]
            if not (entry.context or entry.text == said or _are_together(entry.at, at)):
                return
            self._entries.pop()
            if self.prompts.pop(entry.uid, ""):
                self._named.discard(self._turn)
            self.last = self._before.pop()

    def _counted(self, payload: Record) -> None:
        info = payload.get("info")
        usage = usage_of(info.get("last_token_usage") if isinstance(info, dict) else None, wire.USAGE)
        reply = next((entry for entry in reversed(self._entries) if entry.role == "assistant"), None)
        if reply is not None and reply.usage is None:
            reply.usage = usage

    def _rolled_back(self, turns: object) -> None:
        """The person went back: what follows hangs from what stood before the turns taken back."""
        for _ in range(min(turns, len(self._before)) if type(turns) is int else 0):
            self.last = self._before.pop()

    def _compacted(self, summary: str, at: object, uid: str, line: int) -> None:
        """The summary may have been written down as a reply before; nobody was told it."""
        reply = self._entries[-1] if self._entries else None
        if reply and reply.role == "assistant" and reply.text.strip() and summary.rstrip().endswith(reply.text.strip()):
            reply.role, reply.kind, reply.text = "system", "summary", shortened(summary, TOOL_LIMIT)
        elif summary.strip():
            self._add("system", summary, at, uid, line, kind="summary")

    def _typed(self, text: str, at: object, uid: str, line: int, *, context: bool = False) -> None:
        self._before.append(self.last)
        if self._turn and self._turn not in self._named:
            self._named.add(self._turn)
            self.prompts[uid] = self._turn
        self._add("user", text, at, uid, line, context=context)

    def _add(self, role: Role, text: str, at: object, uid: str, line: int, **more: Any) -> None:
        if text.strip() or more.get("calls"):
            self._entries.append(_Entry(role, text, at, uid, self.last, line, **more))
            self.last = uid


def _are_together(one: object, other: object) -> bool:
    first, second = parse_instant(one), parse_instant(other)
    return first is not None and second is not None and abs(seconds_of(first[0]) - seconds_of(second[0])) <= _TOGETHER
