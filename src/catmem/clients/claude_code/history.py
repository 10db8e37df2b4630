"""Reads the transcripts of Claude Code: `<config>/projects/<folder>/<session>.jsonl`, versions since 1.0.98."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from catmem.clients import reasons
from catmem.clients.claude_code import wire
from catmem.clients.claude_code.ahead import Ahead
from catmem.clients.claude_code.assembly import Assembly
from catmem.clients.claude_code.chain import Earlier
from catmem.clients.claude_code.event import session_key
from catmem.clients.claude_code.wire import Record, text_of
from catmem.clients.lines import LONG_LINE, Line, read_lines, records_of
from catmem.clients.port import CHUNK_BYTES, START, Position, Problem, TranscriptChunk
from catmem.clients.reasons import Reason
from catmem.domain.clock import parse_instant, stamp
from catmem.domain.errors import BadInput, StorageFailed
from catmem.text.encoding import sniff

_MESSAGE_KINDS = frozenset({"user", "assistant", "system", "attachment", "progress"})
_NOTE_KINDS = frozenset(
    {"summary", "ai-title", "custom-title", "queue-operation", "last-prompt", "file-history-snapshot"}
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
# The session's id stands on every line; the first few lines of a file may be notes without one.
_HEAD_LINES = 64
_HEAD_BYTES = 1 << 18
# How far beyond its limit a part may go to find the end of a reply.
_LONGEST_STRETCH = 4


@dataclass(frozen=True, slots=True)
class _Part:
    """Lines of a file that are taken in together."""

    lines: list[tuple[Line, list[object]]]
    problems: list[Problem]
    end: int
    lines_before: int
    at_end: bool


class ClaudeCodeHistory:
    """The History of Claude Code."""

    def recognises(self, head: Sequence[object]) -> bool:
        """Lines of a known kind, with a uuid, a session or a message of this program's shape."""
        return any(
            isinstance(record, dict)
            and record.get("type") in (*_MESSAGE_KINDS, *_NOTE_KINDS)
            and ("sessionId" in record or "uuid" in record or "leafUuid" in record or "message" in record)
            for record in head
        )

    def chunks(
        self, path: Path, position: Position = START, *, limit: int = CHUNK_BYTES, final: bool = True
    ) -> Iterator[TranscriptChunk]:
        """See clients.port.History: one session a file."""
        try:
            with path.open("rb") as file:
                head = file.read(_HEAD_BYTES)
                encoding = sniff(head)
                if encoding:
                    raise BadInput(
                        f"{path}: is {encoding}, not UTF-8 text. Convert it to UTF-8 and try again.",
                        f"{path}：是 {encoding}，不是 UTF-8 文本。请转成 UTF-8 后重试。",
                    )
                session = session_key(_session_id(path, head))
                fallback = stamp(path.stat().st_mtime)
                at_end = False
                while not at_end:
                    part = _read_part(file, str(path), position, limit)
                    chunk = _assemble(path, session, file, part, position, fallback, final)
                    yield chunk
                    position, at_end = chunk.position, part.at_end
        except OSError as error:
            raise StorageFailed(
                f"{path}: cannot be read ({error.strerror or error}). Check the file and its permissions.",
                f"{path}：无法读取（{error.strerror or error}）。请检查文件及其权限。",
            ) from error


READER = ClaudeCodeHistory()


def _session_id(path: Path, head: bytes) -> str:
    """The file's name, since copies keep foreign ids inside; else the first id that stands in it."""
    named = []
    for raw in head.split(b"\n")[:_HEAD_LINES]:
        named += [text_of(r.get("sessionId")) for r in records_of(raw)[0] if isinstance(r, dict)]
    named = [name for name in named if name]
    stem = path.name.split(".jsonl")[0]
    return stem if _UUID.match(stem) or stem in named or not named else named[0]


def _read_part(file: BinaryIO, name: str, position: Position, limit: int) -> _Part:
    """Whole lines from `position` on, about `limit` bytes, cut before a turn or a reply begins."""
    lines: list[tuple[Line, list[object]]] = []
    problems: list[Problem] = []
    replies: set[str] = set()
    end, number = position.offset, position.line
    for line in read_lines(file, position.offset, position.line):
        records, reason = records_of(line.raw, wire.HEADS) if line.raw is not None else ([], "")
        if end - position.offset >= limit and any(_begins(record, replies) for record in records):
            return _Part(lines, problems, end, number, False)
        if reason and not line.ended:
            # Being written, or torn by a crash: whoever reads on begins at this line again.
            problems.append(Problem(name, line.number, *reasons.incomplete(reason)))
            return _Part([*lines, (line, records)], problems, line.start, number, True)
        fault = reasons.not_json(reason) if reason else _fault(line, records)
        if fault:
            problems.append(Problem(name, line.number, *fault))
        lines.append((line, records))
        replies.update(filter(None, map(_reply_id, records)))
        end, number = line.end, line.number
        if end - position.offset >= limit * _LONGEST_STRETCH + LONG_LINE:
            return _Part(lines, problems, end, number, False)
    return _Part(lines, problems, end, number, True)


def _fault(line: Line, records: Sequence[object]) -> Reason | None:
    if line.raw is None:
        return reasons.too_long(line.end - line.start)
    if not records and line.raw.strip(b"\r\n\t \xef\xbb\xbf"):
        return reasons.nul_characters(line.raw.count(b"\x00"))
    return None


def _begins(record: object, replies: set[str]) -> bool:
    """True for a line with which something typed, or a reply that is not among `replies`, begins."""
    if not isinstance(record, dict) or wire.is_side_chain(record):
        return False
    if record.get("type") == "user":
        return not record.get("isMeta") and any(b.get("type") == "text" for b in wire.blocks_of(record))
    reply = _reply_id(record)
    return bool(reply) and reply not in replies


def _reply_id(record: object) -> str:
    if not isinstance(record, dict) or record.get("type") != "assistant":
        return ""
    return text_of(wire.message_of(record).get("id")) or text_of(record.get("uuid"))


def _assemble(
    path: Path, session: str, file: BinaryIO, part: _Part, position: Position, fallback: str, final: bool
) -> TranscriptChunk:
    assembly = Assembly(str(path), fallback, reply=position.reply, earlier=Earlier(path, position.offset, _uid_of))
    assembly.title_rank = position.titled
    assembly.queue.waiting += [ahead for offset in position.waiting if (ahead := _ahead_at(file, offset))]
    for line, records in part.lines:
        for record in records:
            assembly.take(record, line)
    messages = assembly.finish(final=final and part.at_end)
    waiting = () if final and part.at_end else tuple(ahead.offset for ahead in assembly.queue.waiting)
    return TranscriptChunk(
        session=session,
        messages=tuple(messages),
        marks=tuple(assembly.marks()),
        position=Position(part.end, part.lines_before, waiting, assembly.last_reply, assembly.title_rank),
        problems=tuple(sorted((*part.problems, *assembly.problems), key=lambda problem: problem.line)),
        cwd=assembly.cwd,
        title=assembly.title,
        prompts=assembly.prompts,
        records=assembly.records,
        helper=position.offset == 0 and assembly.is_helper(),
        forked=assembly.forked,
        first=position.offset == 0,
        at_end=part.at_end,
    )


def _uid_of(records: Sequence[Record]) -> str:
    """The uid of the message that these lines make, "" if they make none."""
    assembly = Assembly("", "")
    for record in records:
        assembly.take(record, Line(0, 0, 0, b"", True))
    messages = assembly.finish(final=False)
    return messages[0].uid if messages else ""


def _ahead_at(file: BinaryIO, offset: int) -> Ahead | None:
    line = next(read_lines(file, offset), None)
    for record in records_of(line.raw)[0] if line and line.raw else ():
        if isinstance(record, dict):
            instant = parse_instant(record.get("timestamp"))
            return Ahead(offset, text_of(record.get("content")), instant[0] if instant else "")
    return None
