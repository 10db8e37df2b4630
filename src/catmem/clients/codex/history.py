"""Reads the rollouts of Codex: `<home>/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, plain or compressed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from catmem.clients import reasons
from catmem.clients.codex import wire
from catmem.clients.codex.assembly import Assembly
from catmem.clients.codex.fork import codex_home, replay_in
from catmem.clients.codex.survey import Survey, survey
from catmem.clients.compressed import SUFFIX, damage_of, damaged, opened
from catmem.clients.draft import Draft, record_of, text_of
from catmem.clients.lines import LONG_LINE, read_lines, records_of
from catmem.clients.port import CHUNK_BYTES, START, Position, TranscriptChunk
from catmem.clients.whole_file import first_records, refuse_encodings, written_at
from catmem.domain.clock import parse_instant
from catmem.domain.errors import BadInput, StorageFailed

CLIENT = "codex"
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?=\.json)")
_HEAD_BYTES = 1 << 18
# The session's own record is the first line; a torn one may precede it.
_HEAD_LINES = 20
# How far beyond its limit a part may go to find the beginning of a turn.
_LONGEST_STRETCH = 4


class CodexHistory:
    """The History of Codex: one session a file."""

    def knows(self, path: Path, head: bytes) -> bool:
        """True for a rollout, plain, compressed, or in the oldest form, one JSON object."""
        if path.name.endswith(f".jsonl{SUFFIX}"):
            return wire.is_rollout([record for line in _first_lines(path) for record in line])
        if path.suffix == ".json":
            return path.name.startswith("rollout-") and b'"items"' in head
        return wire.is_rollout(first_records(head))

    def recognises(self, head: Sequence[object]) -> bool:
        return wire.is_rollout(head)

    def chunks(
        self, path: Path, position: Position = START, *, limit: int = CHUNK_BYTES, final: bool = True
    ) -> Iterator[TranscriptChunk]:
        """See clients.port.History. A compressed file whose plain twin is there gives nothing."""
        try:
            if path.suffix == SUFFIX and path.with_suffix("").is_file():
                return
            if path.suffix == ".json":
                yield _document(path)
                return
            assembly, started = _begun(path, position), position.offset == 0
            with opened(path) as file:
                refuse_encodings(path, file.read(512))
                at_end = False
                while not at_end:
                    position, at_end = _read_part(file, assembly, position, limit)
                    yield _chunk(assembly, position, started, at_end=at_end)
        except OSError as error:
            raise StorageFailed(
                f"{path}: cannot be read ({error.strerror or error}). Check the file and its permissions.",
                f"{path}：无法读取（{error.strerror or error}）。请检查文件及其权限。",
            ) from error


READER = CodexHistory()


def session_key(session_id: str) -> str:
    """The key under which a session of Codex is kept."""
    return f"{CLIENT}:{session_id}"


def _first_lines(path: Path) -> list[list[object]]:
    found = []
    with opened(path) as file:
        for line in read_lines(file):
            found.append(records_of(line.raw, wire.HEADS)[0] if line.raw else [])
            if line.number >= _HEAD_LINES:
                break
    return found


def _begun(path: Path, position: Position) -> Assembly:
    """What is carried through a file: it depends on the file's beginning, wherever the reading begins."""
    records = [record for line in _first_lines(path) for record in line]
    meta = next((p for kind, p in map(wire.opened, records) if kind == "session_meta"), {})
    return _assembly(path, meta, survey(path), position)


def _assembly(path: Path, meta: wire.Record, found: Survey, position: Position = START) -> Assembly:
    named = _ID.search(path.name)
    session = text_of(meta.get("id")) or (named[0] if named else path.name.split(".json")[0])
    began = parse_instant(meta.get("timestamp"))
    draft = Draft(str(path), session_key(session), began[0] if began else written_at(path))
    draft.cwd = text_of(meta.get("cwd"))
    draft.title = _title(path, session)
    assembly = Assembly(draft, session, found, last=position.reply)
    assembly.agent = wire.is_subagent(meta)
    parent = wire.parent_thread(meta)
    if parent and not assembly.agent:
        assembly.replay = replay_in(path, parent)
    return assembly


def _title(path: Path, session: str) -> str:
    """The name that the person gave a session; the last one counts."""
    home = codex_home(path)
    title = ""
    if home and (home / "session_index.jsonl").is_file():
        with (home / "session_index.jsonl").open("rb") as file:
            for line in read_lines(file):
                for record in map(record_of, records_of(line.raw or b"")[0]):
                    title = text_of(record.get("thread_name")) if record.get("id") == session else title
    return title


def _read_part(file: BinaryIO, assembly: Assembly, position: Position, limit: int) -> tuple[Position, bool]:
    """Takes whole lines from `position` on in, about `limit` bytes, cut before a turn begins."""
    end, number = position.offset, position.line
    for line in read_lines(file, position.offset, position.line):
        records, reason = records_of(line.raw, wire.HEADS) if line.raw is not None else ([], "")
        length = end - position.offset
        if length >= limit and (any(map(wire.begins_turn, records)) or length >= limit * _LONGEST_STRETCH + LONG_LINE):
            return Position(end, number, reply=assembly.last), False
        if line.raw is None:
            assembly.draft.fault(reasons.too_long(line.end - line.start), line.number)
        elif reason:
            fault = reasons.not_json(reason) if line.ended else reasons.incomplete(reason)
            assembly.draft.fault(fault, line.number)
        elif not records and line.raw.strip(b"\r\n\t \xef\xbb\xbf"):
            assembly.draft.fault(reasons.nul_characters(line.raw.count(b"\x00")), line.number)
        for part, record in enumerate(records):
            assembly.take(record, line.number, part)
        if reason and not line.ended:
            break  # being written, or torn by a crash: whoever reads on begins at this line again
        end, number = line.end, line.number
    if damage_of(file):
        assembly.draft.fault(damaged(damage_of(file)), number + 1)
    return Position(end, number, reply=assembly.last), True


def _chunk(assembly: Assembly, position: Position, started: bool, *, at_end: bool) -> TranscriptChunk:
    """`started`: the reading began at the beginning of the file, and not where an earlier one had left off."""
    assembly.flush()
    chunk = assembly.draft.chunk(position.offset, position.line, at_end=at_end)
    prompts, assembly.prompts = assembly.prompts, {}
    return replace(
        chunk,
        position=position,
        prompts=prompts,
        forked=assembly.replay is not None,
        first=started and chunk.first,
        helper=started and chunk.helper,
    )


def _document(path: Path) -> TranscriptChunk:
    """The oldest form: one object with the session and its items."""
    try:
        document = json.loads(path.read_bytes())
        records = wire.items_of(record_of(document))
    except (ValueError, RecursionError) as error:
        reason = reasons.not_json(str(error))
        raise BadInput(f"{path}: {reason[0]}", f"{path}：{reason[1]}") from error
    found = Survey()
    for number, record in enumerate(records, 1):
        found.take(record, number)
    assembly = _assembly(path, record_of(record_of(document).get("session")), found)
    for number, record in enumerate(records, 1):
        assembly.take(record, number)
    return _chunk(assembly, Position(path.stat().st_size, len(records)), True, at_end=True)
