"""Reads sessions of OpenClaw, `~/.openclaw/agents/<agent>/sessions/<id>.jsonl`, and of pi."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from catmem.clients.draft import Draft, Record, record_of, text_of, tool_call, usage_of
from catmem.clients.lines import Line
from catmem.clients.openclaw import wire
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, drafted, first_records, written_at
from catmem.domain.clock import parse_instant

CLIENT = "openclaw"


class OpenClawHistory(WholeFileHistory):
    """The History of OpenClaw. What was archived by a reset belongs to the session that it was."""

    def knows(self, path: Path, head: bytes) -> bool:
        return any(_is_session(r) or _is_message(r) for r in first_records(head) if isinstance(r, dict))

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        draft = Draft(str(path), f"{CLIENT}:{path.name.split('.jsonl')[0]}", written_at(path))
        yield from drafted(path, draft, _Entries(draft).take, limit)


READER = OpenClawHistory()


def _is_session(record: Record) -> bool:
    return record.get("type") == "session" and "id" in record and ("cwd" in record or "timestamp" in record)


def _is_message(record: Record) -> bool:
    return record.get("type") == "message" and "role" in record_of(record.get("message"))


class _Entries:
    """Takes the entries; those that are no message are links of the tree all the same."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._named = False
        self._above: dict[str, str] = {}  # an entry -> the message that it is, or that stands above it

    def take(self, record: Record, line: Line) -> None:
        own, kind = text_of(record.get("id")), text_of(record.get("type"))
        if kind == "session":
            self._session(record, own)
            return
        parent = self._above.get(text_of(record.get("parentId")), "")
        uid = ""
        if kind == "message":
            uid = self._message(record, own, parent, line.number)
        elif kind in ("compaction", "branch_summary"):
            summary, at = text_of(record.get("summary")), record.get("timestamp")
            uid = self._draft.say("system", summary, at, uid=own, line=line.number, parent=parent, kind="summary")
        elif kind == "session_info":
            self._draft.title = text_of(record.get("name")) or self._draft.title
        if own:
            self._above[own] = uid or parent

    def _session(self, record: Record, own: str) -> None:
        """The first says whose file it is; a later one is of the session that it was forked from."""
        if own and not self._named:
            began = parse_instant(record.get("timestamp"))
            self._draft.begin(f"{CLIENT}:{own}", began[0] if began else "")
            self._named = True
        self._draft.cwd = self._draft.cwd or text_of(record.get("cwd"))

    def _message(self, record: Record, own: str, parent: str, line: int) -> str:
        message = record_of(record.get("message"))
        role, text, draft = text_of(message.get("role")), wire.content_text(message), self._draft
        at = message.get("timestamp") or record.get("timestamp")
        if role == "user":
            return draft.say("user", wire.typed(text), at, uid=own, line=line, parent=parent)
        if role == "assistant":
            calls = [tool_call(c.get("id"), c.get("name"), c.get("arguments")) for c in wire.calls_of(message)]
            usage = usage_of(message.get("usage"), wire.USAGE)
            return draft.say("assistant", text, at, uid=own, line=line, parent=parent, calls=calls, usage=usage)
        if role == "toolResult":
            call_id = text_of(message.get("toolCallId"))
            return draft.say("tool", text, at, uid=own, line=line, parent=parent, call_id=call_id)
        if role == "bashExecution":  # a command that the person ran
            text = f"$ {text_of(message.get('command'))}\n{text_of(message.get('output'))}"
            return draft.say("system", text, at, uid=own, line=line, parent=parent, kind="command")
        return draft.say("system", text, at, uid=own, line=line, parent=parent, kind="notice")
