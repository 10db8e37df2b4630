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
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, pairwise
from typing import Any, Literal

from catmem.domain.message import Message
from catmem.sessions import archive
from catmem.sessions import header as line1
from catmem.sessions.archive import Line
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.open_session import OpenSession
from catmem.sessions.outline import outline
from catmem.sessions.pairing import cuts, interrupted, pair
from catmem.sessions.parts import Part, Why, settled_parts, trimmed_mark, waiting_part
from catmem.sessions.quarantine import keep as set_aside
from catmem.sessions.reading import message_of
from catmem.sessions.records import encode_stored, is_interruption, is_message, mark_record, stored
from catmem.sessions.refusals import storage_failed
from catmem.sessions.rewrite import remove_temporaries

# Characters. What a summary is made of: twice what a model reads at once, and small beside what a process weighs.
MOST_SUMMARISED = 2_000_000

Idle = Literal["nothing", "in use", "damaged"]
"""Why nothing was archived: the session is short enough; a turn may still go on; its ids do not rise, which
`mem doctor --repair` mends."""


def archive_oldest(place: Place, most: int, keep: int, now: str, *, turn_is_over: bool = False) -> Part | Idle:
    """Archives the oldest turns of a session of more than `most` messages, so that about `keep` stay.

    Returns the part that waits for its summary: a new one, or one of an earlier time. `turn_is_over` says that a last
    turn without an answer will get none. Raises LockBusy at once if somebody writes, StorageFailed.
    """
    with open_for_compaction(place) as session:
        found = outline(session)
        waiting = waiting_part(found.marks)
        if waiting:
            _copy(session, waiting.has, now)
            return waiting
        messages = found.messages
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
        messages = outline(session).messages
        if not messages or not _rise(messages):
            return 0
        _archive(session, len(messages), "age", now)
    return trim(place, now)


def part_messages(place: Place, part: Part) -> list[Message]:
    """The messages of an archived part, as they were said; of one beyond MOST_SUMMARISED, how it began and ended."""
    beginning: list[Message] = []
    end: deque[Message] = deque()
    size = 0
    for _, record in archive.archived_lines(place):
        if part.has(record["id"]):
            message = message_of(record)
            size += len(message.content)
            if not end and size <= MOST_SUMMARISED // 4:
                beginning.append(message)
                continue
            end.append(message)
            while size > MOST_SUMMARISED and len(end) > 1:
                size -= len(end.popleft().content)
    return [*beginning, *end]


def consolidate(place: Place, part: Part, now: str) -> None:
    """Writes down that a part has its summary."""
    with open_for_compaction(place) as session:
        if waiting_part(outline(session).marks) == part:
            mark = mark_record("consolidated", now, key=session.key, first_id=part.first_id, last_id=part.last_id)
            session.write([mark], sync=True)


def trim(place: Place, now: str) -> int:
    """Takes what is archived and needs no more out of the live file. Returns how many messages left it."""
    with open_for_compaction(place) as session:
        found = outline(session)
        done = settled_parts(found.marks)
        gone = sum(any(part.has(message["id"]) for part in done) for message in found.messages)
        if gone:
            _copy(session, lambda id: any(part.has(id) for part in done), now)
            _rewrite(session, done, now)
        return gone


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
    messages = outline(session).messages
    give_results(session, interrupted(messages, cut, session.key, now))
    messages = outline(session).messages
    first, last = messages[0]["id"], messages[cut - 1]["id"]
    paired = pair(messages)
    results = [*paired.answered.items(), *paired.late.items()]
    also = {messages[result]["id"] for result, (call, _) in results if call < cut <= result}
    part = Part(first, last, frozenset(also), why)
    _copy(session, part.has, now)
    mark = mark_record("archived", now, key=session.key, first_id=first, last_id=last, also=sorted(also), why=why)
    session.write([mark], sync=True)
    return part


def _copy(session: OpenSession, wants: Callable[[int], bool], now: str) -> None:
    """Brings lines into the archive, as the live file has them now; those that are there already stay."""
    place = session.place
    present = {record["id"]: hash(line) for line, record in archive.archived_lines(place) if wants(record["id"])}

    def wanted() -> Iterator[Line]:
        return ((line, r) for line, r in session.own_lines() if is_message(r) and wants(r["id"]))

    differ = {r["id"]: (line, r) for line, r in wanted() if present.get(r["id"], hash(line)) != hash(line)}
    if differ:
        # A sentence was purged in one of them, and the purge was killed before the other: the live file counts.
        set_aside(place.quarantine, archive.damage(place))
        merged = (differ.get(record["id"], (line, record)) for line, record in archive.archived_lines(place))
        archive.rewrite(place, session.header, merged, now)
    if any(record["id"] not in present for _, record in wanted()):
        archive.add(place, session.header, (line for line in wanted() if line[1]["id"] not in present), now)


def _rewrite(session: OpenSession, done: Sequence[Part], now: str) -> None:
    """The live file anew, without the messages of these parts, and without marks that say nothing any more."""
    kept = _Kept(session, done)
    first, last = min(part.first_id for part in done), max(part.last_id for part in done)
    trimmed: dict[str, Any] = stored(trimmed_mark(kept.left, first, last, now))
    header = line1.rebuild(session.key, chain((trimmed,), (record for _, record in kept.lines())))
    line1.fill(header, line1.salvaged(session.header))
    session.header = header
    kept.first = encode_stored(trimmed)
    session.replace(kept)


class _Kept:
    """The lines that stay: every message of no part, and the marks that still say something; read anew each time.

    left   a header that counts what does not stay
    first  the line that comes before all others
    """

    def __init__(self, session: OpenSession, done: Sequence[Part]) -> None:
        self.first = b""
        self.left = line1.new(session.key)
        self._session = session
        self._done = done
        # How far a transcript was read, and where the user is in it: only the newest is asked for.
        self._newest: dict[tuple[str, str], int] = {}
        self._spoken = -1
        for number, (_, record) in enumerate(session.own_lines()):
            mark = record.get("mark")
            if mark in ("source", "leaf"):
                self._newest[mark, str(record.get("path"))] = number
            elif not mark and not is_interruption(record):
                self._spoken = number
            if mark == "trimmed" or (not mark and self._is_gone(record)):
                line1.advance(self.left, (record,))

    def __iter__(self) -> Iterator[bytes]:
        return chain((self.first,), (line for line, _ in self.lines()))

    def lines(self) -> Iterator[Line]:
        for number, (line, record) in enumerate(self._session.own_lines()):
            mark = record.get("mark")
            if not mark:
                stays = not self._is_gone(record)
            elif mark in ("source", "leaf"):
                stays = self._newest[mark, str(record.get("path"))] == number
            else:
                stays = mark != "trimmed" and not (mark == "end" and number < self._spoken)
            if stays:
                yield line, record

    def _is_gone(self, message: Mapping[str, Any]) -> bool:
        return any(part.has(message["id"]) for part in self._done)


# -- what is asked of the messages


def messages_of(lines: Iterable[Line]) -> list[dict[str, Any]]:
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
