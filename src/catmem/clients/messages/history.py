"""The plain import format, any number of sessions a file.

JSON lines {"session", "project", "role", "content", "timestamp"}; other fields are no fault.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catmem.clients import reasons
from catmem.clients.lines import Line, cleaned, read_lines, records_of, shortened
from catmem.clients.port import CHUNK_BYTES, START, Position, Problem, TranscriptChunk
from catmem.clients.reasons import Reason
from catmem.domain.clock import parse_instant, stamp
from catmem.domain.errors import BadInput, StorageFailed
from catmem.domain.message import Message, Role
from catmem.text.encoding import sniff

# What other tools call the four who speak.
_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
    "tool": "tool",
    "function": "tool",
    "system": "system",
    "developer": "system",
}
_TOOL_LIMIT = 64 << 10


@dataclass(slots=True)
class _Reading:
    """What is carried from line to line of one file. `written` is its own time, `begun` that of each session."""

    name: str
    written: str
    begun: dict[tuple[str, str], str] = field(default_factory=dict)
    repeats: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    sessions: dict[tuple[str, str], list[Message]] = field(default_factory=dict)
    records: int = 0

    def take(self) -> tuple[dict[tuple[str, str], list[Message]], tuple[Problem, ...], int]:
        """What was read since the last time."""
        sessions, problems, records = self.sessions, tuple(self.problems), self.records
        self.sessions, self.problems, self.records = {}, [], 0
        return sessions, problems, records


class MessagesHistory:
    """The History of the plain format."""

    def recognises(self, head: Sequence[object]) -> bool:
        """A record with a role and a content of its own, in no envelope."""
        return any(isinstance(r, dict) and "role" in r and "content" in r and "type" not in r for r in head)

    def chunks(
        self, path: Path, position: Position = START, *, limit: int = CHUNK_BYTES, final: bool = True
    ) -> Iterator[TranscriptChunk]:
        """See clients.port.History. A chunk a session, for each `limit` bytes of the file."""
        try:
            with path.open("rb") as file:
                encoding = sniff(file.read(512))
                if encoding:
                    raise BadInput(
                        f"{path}: is {encoding}, not UTF-8 text. Convert it to UTF-8 and try again.",
                        f"{path}：是 {encoding}，不是 UTF-8 文本。请转成 UTF-8 后重试。",
                    )
                reading = _Reading(str(path), stamp(os.fstat(file.fileno()).st_mtime))
                begun, first = position.offset, position.offset == 0
                end = position
                for line in read_lines(file, position.offset, position.line):
                    _read_line(line, reading)
                    end = Position(line.end, line.number)
                    if line.end - begun >= limit:
                        yield from _chunks(reading, end, first, at_end=False)
                        begun, first = line.end, False
                yield from _chunks(reading, end, first, at_end=True)
        except OSError as error:
            raise StorageFailed(
                f"{path}: cannot be read ({error.strerror or error}). Check the file and its permissions.",
                f"{path}：无法读取（{error.strerror or error}）。请检查文件及其权限。",
            ) from error


READER = MessagesHistory()


def _chunks(reading: _Reading, position: Position, first: bool, *, at_end: bool) -> Iterator[TranscriptChunk]:
    sessions, problems, records = reading.take()
    if not sessions and (problems or at_end):
        yield TranscriptChunk("", position=position, problems=problems, records=records, first=first, at_end=at_end)
    for (project, session), messages in sessions.items():
        yield TranscriptChunk(
            session,
            tuple(messages),
            position=position,
            problems=problems,
            project=project,
            records=records,
            first=first,
            at_end=at_end,
        )
        problems, records = (), 0


def _read_line(line: Line, reading: _Reading) -> None:
    if line.raw is None:
        reading.problems.append(Problem(reading.name, line.number, *reasons.too_long(line.end - line.start)))
        return
    records, reason = records_of(line.raw)
    for record in records:
        fault = _take(record, line, reading)
        if fault:
            reading.problems.append(Problem(reading.name, line.number, *fault))
        else:
            reading.records += 1
    if reason:
        reading.problems.append(Problem(reading.name, line.number, *reasons.not_json(reason)))


def _take(record: object, line: Line, reading: _Reading) -> Reason | None:
    """Adds a record to its session; returns what is wrong with it."""
    if not isinstance(record, dict):
        return reasons.NOT_A_RECORD
    role = _ROLES.get(str(record.get("role", "")).lower())
    session = _text(record.get("session"))
    content = _content(record.get("content"))
    if role is None:
        return reasons.unknown_role(record.get("role"))
    if not session:
        return reasons.NO_SESSION
    if content is None:
        return reasons.NO_CONTENT
    place = _text(record.get("project")), session
    message = Message(
        role,
        shortened(content, _TOOL_LIMIT) if role == "tool" else content,
        _instant(record, place, line, reading),
        _uid(record, session, role, content, reading),
        kind=_text(record.get("kind")) if role == "system" else "",
    )
    reading.sessions.setdefault(place, []).append(message)
    return None


def _instant(record: dict[str, Any], place: tuple[str, str], line: Line, reading: _Reading) -> str:
    """What has no time is as old as its session: the row before it may be of another one, and of any day."""
    instant = parse_instant(record.get("timestamp"))
    if instant is None:
        reading.problems.append(Problem(reading.name, line.number, *reasons.NO_TIME_IN_SESSION))
        return reading.begun.get(place, reading.written)
    if not instant[1]:
        reading.problems.append(Problem(reading.name, line.number, *reasons.NO_ZONE))
    reading.begun.setdefault(place, instant[0])
    return instant[0]


def _uid(record: dict[str, Any], session: str, role: str, content: str, reading: _Reading) -> str:
    """The record's own id, else one made of all that it says: the same lines are the same messages in any file.

    The same words twice at the same time are two messages, told apart by their order.
    """
    own = _text(record.get("uid"))
    if own:
        return own
    told = f"{session}\n{role}\n{record.get('timestamp')}\n{content}".encode("utf-8", "replace")
    digest = hashlib.blake2b(told, digest_size=12).hexdigest()
    repeat = reading.repeats.get(digest, 0)
    reading.repeats[digest] = repeat + 1
    return f"line:{digest}:{repeat}" if repeat else f"line:{digest}"


def _text(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return cleaned(value) if isinstance(value, str) else ""


def _content(value: object) -> str | None:
    """Text, or a list of blocks with text in them."""
    if isinstance(value, str):
        return cleaned(value)
    if not isinstance(value, list):
        return None
    texts = [block if isinstance(block, str) else block.get("text") for block in value if isinstance(block, str | dict)]
    return "\n".join(cleaned(text) for text in texts if isinstance(text, str))
