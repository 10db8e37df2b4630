"""Reads Cursor: its database `state.vscdb`, and the agent transcripts of `~/.cursor/projects/*/agent-transcripts`.

A talk may be in both. The transcripts have neither times nor ids, so messages are named by what they say: the same
words under the same talk are the same message.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from catmem.clients.cursor import wire
from catmem.clients.cursor.database import talks
from catmem.clients.draft import Draft, Record, record_of, text_of, tool_call
from catmem.clients.foreign_db import SIGNATURE
from catmem.clients.lines import BLOCK, Line
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, drafted, first_records, refuse_encodings, written_at

CLIENT = "cursor"
# A transcript that is plain text is read whole.
_TEXT_LIMIT = 64 * BLOCK


class CursorHistory(WholeFileHistory):
    """The History of Cursor."""

    def knows(self, path: Path, head: bytes) -> bool:
        if head.startswith(SIGNATURE):
            return path.suffix == ".vscdb"
        if path.suffix == ".txt":
            return head.lstrip(b"\xef\xbb\xbf \r\n").startswith((b"user:\n", b"user:\r\n", b"assistant:\n"))
        return any(_is_line(record) for record in first_records(head))

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        with path.open("rb") as file:
            head = file.read(512)
        if head.startswith(SIGNATURE):
            yield from talks(path, CLIENT)
            return
        refuse_encodings(path, head)
        draft = Draft(str(path), f"{CLIENT}:{path.stem}", written_at(path))
        if path.suffix == ".txt":
            yield _text(path, draft)
        else:
            yield from drafted(path, draft, _Lines(draft).take, limit)


READER = CursorHistory()


def _is_line(record: object) -> bool:
    """{role, message{content}} of an agent; or {type, timestamp in milliseconds, message}, which others write as text."""
    if not isinstance(record, dict) or not isinstance(record.get("message"), dict) or "uuid" in record:
        return False
    if "type" not in record:
        return record.get("role") in ("user", "assistant") and "content" in record["message"]
    return record["type"] in ("user", "assistant", "tool") and type(record.get("timestamp")) is int


def _text(path: Path, draft: Draft) -> TranscriptChunk:
    with path.open("rb") as file:
        text = file.read(_TEXT_LIMIT).decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    for speaker, words, line in wire.spoken(text):
        draft.read()
        if speaker == "user":
            _said(draft, words, None, line)
        else:
            draft.say("assistant", words.strip(), None, line=line)
    return draft.chunk(path.stat().st_size)


def _said(draft: Draft, text: str, at: object, line: int) -> None:
    said, added = wire.typed(text)
    draft.say("user", said.strip(), at, line=line)
    draft.say("system", added, at, line=line, kind="reminder")


class _Lines:
    """Takes the lines of a transcript; a call has no id of its own, and is named by its place."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._calls = 0
        self._last_call = ""

    def take(self, record: Record, line: Line) -> None:
        message, at = record_of(record.get("message")), record.get("timestamp")
        role = text_of(record.get("role")) or text_of(record.get("type"))
        if role == "tool":
            return self._tool(message, at, line)
        blocks = wire.blocks_of(message)
        text = "\n".join(text_of(block.get("text")) for block in blocks if block.get("type", "text") == "text")
        for block in blocks:
            if block.get("type") == "tool_result":  # without an id: of the call before it
                call_id = text_of(block.get("tool_use_id")) or self._last_call
                self._draft.say("tool", wire.result_text(block), at, line=line.number, call_id=call_id)
        if role == "user":
            _said(self._draft, text, at, line.number)
            return None
        calls = [
            tool_call(self._next_call(text_of(block.get("id"))), block.get("name"), block.get("input"))
            for block in blocks
            if block.get("type") == "tool_use"
        ]
        self._draft.say("assistant", text.strip(), at, line=line.number, calls=calls)
        return None

    def _tool(self, message: Record, at: object, line: Line) -> None:
        call_id = self._next_call()
        call = tool_call(call_id, message.get("tool_name"), message.get("tool_input"))
        self._draft.say("assistant", "", at, line=line.number, calls=[call])
        self._draft.say("tool", text_of(message.get("tool_output")), at, line=line.number, call_id=call_id)

    def _next_call(self, own: str = "") -> str:
        self._calls += 1
        self._last_call = own or f"call-{self._calls}"
        return self._last_call
