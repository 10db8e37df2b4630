"""Bounding a session: its oldest whole turns go to the archive, and out of the live file when they are summarised.

    archive_oldest   lines -> archive, then the mark `archived` {first_id, last_id, also, why}
    consolidate      the mark `consolidated` {first_id, last_id}: the range has its summary
    trim             what is archived and consolidated leaves the live file, the mark `trimmed` takes its place

Each step is one replace or one write, and does nothing where it was done already, so a killed one is just run again.
Between `archived` and `trim` both files have the lines; the live file's count then. `also` are results that nobody gave
(pairing.py): they stand behind the range, and go with their calls. A session archived for its age needs no summary.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Literal

from catmem.domain.message import Message
from catmem.sessions import archive
from catmem.sessions import header as line1
from catmem.sessions.archive import Line
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.open_session import OpenSession
from catmem.sessions.pairing import cuts, interrupted, pair
from catmem.sessions.parts import Part, Why, settled_parts, waiting_part
from catmem.sessions.quarantine import keep as set_aside
from catmem.sessions.reading import message_of
from catmem.sessions.records import encode_stored, is_interruption, is_message, mark_record, stored
from catmem.sessions.refusals import storage_failed
from catmem.sessions.rewrite import remove_temporaries

Idle = Literal["nothing", "in use", "damaged"]
"""Why nothing was archived: the session is short enough; a turn may still go on; its ids do not rise, which
`mem doctor --repair` mends."""


def archive_oldest(place: Place, most: int, keep: int, now: str, *, turn_is_over: bool = False) -> Part | Idle:
    """Archives the oldest turns of a session of more than `most` messages, so that about `keep` stay.

    Returns the part that waits for its summary: a new one, or one of an earlier time. `turn_is_over` says that a last
    turn without an answer will get none. Raises LockBusy at once if somebody writes, StorageFailed.
    """
    with open_for_compaction(place) as session:
        lines = session.own_lines()
        waiting = waiting_part([record for _, record in lines])
        if waiting:
            _copy(session, lines, waiting.has, now)
            return waiting
        messages = messages_of(lines)
        if len(messages) <= most:
            return "nothing"
        if not _rise(messages):
            return "damaged"
        if not (turn_is_over or session.header["metadata"].get("ended")) and _in_turn(messages):
            return "in use"
        cut = _cut(messages, keep)
        return _archive(session, cut, "length", now) if cut else "nothing"


def archive_all(place: Place, now: str) -> int:
    """Archives every message of a session, and takes them out of the live file. Returns how many; raises as above."""
    with open_for_compaction(place) as session:
        messages = messages_of(session.own_lines())
        if not messages or not _rise(messages):
            return 0
        _archive(session, len(messages), "age", now)
    return trim(place, now)


def part_messages(place: Place, part: Part) -> list[Message]:
    """The messages of an archived part, as they were said."""
    return [message_of(record) for _, record in archive.read_archive(place).lines if part.has(record["id"])]


def consolidate(place: Place, part: Part, now: str) -> None:
    """Writes down that a part has its summary."""
    with open_for_compaction(place) as session:
        records = [record for _, record in session.own_lines()]
        if waiting_part(records) == part:
            mark = mark_record("consolidated", now, key=session.key, first_id=part.first_id, last_id=part.last_id)
            session.write([mark], sync=True)


def trim(place: Place, now: str) -> int:
    """Takes what is archived and needs no more out of the live file. Returns how many messages left it."""
    with open_for_compaction(place) as session:
        lines = session.own_lines()
        done = settled_parts([record for _, record in lines])
        gone = {record["id"] for record in messages_of(lines) if any(part.has(record["id"]) for part in done)}
        if gone:
            _copy(session, lines, gone.__contains__, now)
            _rewrite(session, lines, gone, done, now)
        return len(gone)


def give_results(session: OpenSession, lacking: Sequence[Mapping[str, Any]]) -> None:
    """Appends results that nobody gave (pairing.py), on the disk before anything else happens."""
    if lacking:
        last_id = session.header["metadata"]["last_id"]
        session.write([stored({**record, "id": last_id + n}) for n, record in enumerate(lacking, 1)], sync=True)


def live_bound(place: Place) -> int:
    """How many messages the live file has at most, by its line 1 alone: its ids rise by one or more."""
    try:
        with open(place.file, "rb") as file:
            header, _ = line1.unpack(file.readline(line1.LONGEST_ROOM))
    except OSError:
        return 0
    if header is None or "adopted" in header["metadata"]:
        return 0
    return int(header["metadata"]["last_id"] - header["metadata"].get("trimmed", 0))


# -- the steps


@contextmanager
def open_for_compaction(place: Place) -> Iterator[OpenSession]:
    """The session under its lock, for which a compaction does not wait."""
    try:
        with session_lock(place.lock, 0):
            remove_temporaries(os.path.dirname(place.archive), os.path.basename(place.archive))
            session = OpenSession(place, "", create=False)
            try:
                session.patch()
                yield session
            finally:
                session.close()
    except OSError as error:
        raise storage_failed(place.file, error) from error


def _archive(session: OpenSession, cut: int, why: Why, now: str) -> Part:
    """Archives the messages before a place; calls among them that have no result get one first."""
    messages = messages_of(session.own_lines())
    give_results(session, interrupted(messages, cut, session.key, now))
    lines = session.own_lines()
    messages = messages_of(lines)
    first, last = messages[0]["id"], messages[cut - 1]["id"]
    paired = pair(messages)
    results = [*paired.answered.items(), *paired.late.items()]
    also = {messages[result]["id"] for result, (call, _) in results if call < cut <= result}
    part = Part(first, last, frozenset(also), why)
    _copy(session, lines, part.has, now)
    mark = mark_record("archived", now, key=session.key, first_id=first, last_id=last, also=sorted(also), why=why)
    session.write([mark], sync=True)
    return part


def _copy(session: OpenSession, lines: Sequence[Line], wants: Callable[[int], bool], now: str) -> None:
    """Brings lines into the archive, as the live file has them now; those that are there already stay."""
    wanted = {record["id"]: (line, record) for line, record in lines if is_message(record) and wants(record["id"])}
    found = archive.read_archive(session.place)
    present = {record["id"]: line for line, record in found.lines}
    if any(present.get(id, line) != line for id, (line, _) in wanted.items()):
        # A sentence was purged in one of them, and the purge was killed before the other: the live file counts.
        set_aside(session.place.quarantine, found.bad)
        merged = [wanted.get(record["id"], (line, record)) for line, record in found.lines]
        archive.rewrite(session.place, session.header, merged, now)
    missing = [line for id, line in wanted.items() if id not in present]
    if missing:
        archive.add(session.place, session.header, missing, now)


def _rewrite(session: OpenSession, lines: Sequence[Line], gone: set[int], done: Sequence[Part], now: str) -> None:
    """The live file anew, without the messages `gone`, and without marks that say nothing any more."""
    records = [record for _, record in lines]
    old = [record for record in records if record.get("mark") == "trimmed"]
    left = [record for record in records if is_message(record) and record["id"] in gone]
    base = line1.rebuild(session.key, [*old, *left])
    first, last = min(part.first_id for part in done), max(part.last_id for part in done)
    trimmed: dict[str, Any] = stored(line1.trimmed_mark(base, first, last, now))
    kept = _kept(lines, gone)
    header = line1.rebuild(session.key, [trimmed, *(record for _, record in kept)])
    line1.fill(header, line1.salvaged(session.header))
    session.header = header
    session.replace([encode_stored(trimmed), *(line for line, _ in kept)])


def _kept(lines: Sequence[Line], gone: set[int]) -> list[Line]:
    """The lines that stay: every other message, and the marks that still say something."""
    kept: list[Line] = []
    later: set[tuple[str, str]] = set()
    spoken = False
    for line, record in reversed(lines):
        mark = str(record.get("mark", ""))
        if not mark:
            spoken = spoken or not is_interruption(record)
            if record["id"] in gone:
                continue
        elif mark in ("source", "leaf"):
            # How far a transcript was read, and where the user is in it: only the newest is asked for.
            if (mark, str(record.get("path"))) in later:
                continue
            later.add((mark, str(record.get("path"))))
        elif mark == "trimmed" or (mark == "end" and spoken):
            continue
        kept.append((line, record))
    return kept[::-1]


# -- what is asked of the messages


def messages_of(lines: Sequence[Line]) -> list[dict[str, Any]]:
    return [record for _, record in lines if is_message(record)]


def _rise(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the ids rise: otherwise they name no ranges."""
    return all(earlier["id"] < later["id"] for earlier, later in pairwise(messages))


def _in_turn(messages: Sequence[Mapping[str, Any]]) -> bool:
    """True while an answer may still come: the last word is the user's or a tool's, or a call waits for its result."""
    spoken = [m for m in messages if m["role"] != "system" and not is_interruption(m)]
    if not spoken or spoken[-1]["role"] != "assistant":
        return bool(spoken)
    turn = max((place for place, m in enumerate(messages) if m["role"] == "user"), default=0)
    return any(place >= turn for place, _ in pair(messages).open)


def _cut(messages: Sequence[Mapping[str, Any]], keep: int) -> int:
    """Where to cut so that about `keep` messages stay; 0 where no turn ends, as in one turn of thousands of calls."""
    possible = cuts(messages)
    before = [cut for cut in possible if cut <= len(messages) - keep]
    return before[-1] if before else (possible[0] if possible else 0)
