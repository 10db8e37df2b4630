"""Reads sessions of nanobot and of catbuddy: `sessions/<channel_chat>.jsonl`.

nanobot begins a file with {_type: metadata}; its times are local. catbuddy begins with a line 1 like that of our own
session files, but of any length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.draft import Draft, Record, record_of, records_in, text_of, tool_call
from catmem.clients.lines import Line
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, drafted, first_records, written_at
from catmem.domain.clock import parse_instant
from catmem.domain.message import ROLES, Role, ToolCall

CLIENT = "nanobot"
_TIME_BEFORE = re.compile(r"\[Message Time: [^\]\n]*\]\s*")


class NanobotHistory(WholeFileHistory):
    """The History of nanobot and catbuddy."""

    def knows(self, path: Path, head: bytes) -> bool:
        first = next(iter(first_records(head, 1)), None)
        return isinstance(first, dict) and (first.get("_type") == "metadata" or _is_line1(first))

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        draft = Draft(str(path), f"{CLIENT}:{path.stem}", written_at(path))
        yield from drafted(path, draft, _Records(draft).take, limit)


READER = NanobotHistory()


def _is_line1(record: Record) -> bool:
    return isinstance(record.get("key"), str) and "last_consolidated" in record and "role" not in record


class _Records:
    """Takes the records of one file."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft

    def take(self, record: Record, line: Line) -> None:
        if record.get("_type") == "metadata" or _is_line1(record):
            self._listing(record)
        elif "_type" not in record and "mark" not in record:  # what the provider keeps is nobody's words
            self._message(record, line.number)

    def _listing(self, record: Record) -> None:
        key, metadata, began = text_of(record.get("key")), record_of(record.get("metadata")), record.get("created_at")
        instant = parse_instant(began)
        known = key if _is_line1(record) else f"{CLIENT}:{key}" if key else ""
        self._draft.begin(known or self._draft.key, instant[0] if instant else "")
        self._draft.title = text_of(record.get("title")) or text_of(metadata.get("title"))
        self._draft.cwd = text_of(metadata.get("cwd"))
        self._draft.project = text_of(metadata.get("project"))

    def _message(self, record: Record, line: int) -> None:
        role = text_of(record.get("role"))
        spoken = next((known for known in ROLES if known == role), None)
        if spoken is None:
            self._draft.fault(reasons.unknown_role(record.get("role")), line)
            return
        text = _content(record.get("content"))
        if spoken == "assistant":
            text = _TIME_BEFORE.sub("", text, count=1) if _TIME_BEFORE.match(text) else text
        self._draft.say(
            spoken,
            text,
            record.get("timestamp"),
            uid=text_of(record.get("uid")),
            line=line,
            parent=text_of(record.get("parent")),
            kind=_kind(spoken, record),
            calls=_calls(record),
            call_id=text_of(record.get("tool_call_id")) or text_of(record.get("toolCallId")),
            usage={k: v for k, v in record_of(record.get("usage")).items() if type(v) is int},
        )


def _kind(role: Role, record: Record) -> str:
    return text_of(record.get("kind")) or ("notice" if role == "system" else "")


def _content(value: object) -> str:
    if isinstance(value, str):
        return value
    texts = (
        text_of(b.get("text")) or (f"[{text_of(b.get('type'))}]" if b.get("type") else "") for b in records_in(value)
    )
    return "\n".join(text for text in texts if text)


def _calls(record: Record) -> list[ToolCall]:
    """OpenAI's shape, {id, function{name, arguments}}, or our own, {id, name, arguments}."""
    calls = []
    for call in records_in(record.get("tool_calls")) + records_in(record.get("toolCalls")):
        function = record_of(call.get("function")) or call
        calls.append(tool_call(call.get("id"), function.get("name"), function.get("arguments")))
    return calls
