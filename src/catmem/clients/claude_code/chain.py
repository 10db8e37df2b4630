"""How the lines of a transcript hang together: parents through lines that are no messages, and the order of the talk.

Each line names the line before it. Many of these are no messages (hook notes, counters, the further lines of one
reply), so a message's parent is found by going up through them; some stand earlier in the file than was read now.
"""

from __future__ import annotations

import mmap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from catmem.clients.claude_code.wire import HEADS, Record, message_of, text_of
from catmem.clients.lines import LONG_LINE, Shortener, records_of

# Lines between a message and the one it answers: a handful of hook notes in real files.
_MOST_STEPS = 200
# Lines of one reply, one block each.
_MOST_BLOCKS = 500
# Looked through at a time; far more than the lines of a turn.
_WINDOW = 16 << 20


class Linked(Protocol):
    @property
    def uid(self) -> str: ...
    @property
    def parent(self) -> str: ...


Entry = TypeVar("Entry", bound=Linked)


def in_talk_order(entries: Sequence[Entry]) -> list[Entry]:
    """File order, but each message after the one that it answers: a reply may be written before its question."""
    ours = {entry.uid for entry in entries}
    done: set[str] = set()
    ordered: list[Entry] = []
    waiting: dict[str, list[Entry]] = {}

    def emit(first: Entry) -> None:
        ready = [first]
        while ready:
            entry = ready.pop()
            ordered.append(entry)
            done.add(entry.uid)
            ready.extend(reversed(waiting.pop(entry.uid, [])))

    for entry in entries:
        if entry.parent in ours and entry.parent not in done and entry.parent != entry.uid:
            waiting.setdefault(entry.parent, []).append(entry)
        else:
            emit(entry)
    for entry in entries:  # a ring of parents, which no healthy file has
        if entry.uid not in done:
            waiting = {parent: [e for e in held if e is not entry] for parent, held in waiting.items()}
            emit(entry)
    return ordered


class Chain:
    """Where the lines read so far lead: to a message, or up to the line before."""

    def __init__(self, earlier: Callable[[str], str] = lambda uuid: uuid) -> None:
        self._up: dict[str, str] = {}
        self._earlier = earlier

    def __contains__(self, uuid: str) -> bool:
        return uuid in self._up

    def add(self, uuid: str, target: str) -> None:
        """Line `uuid` is, or stands for, what `target` is; a message is its own target."""
        if uuid:
            self._up[uuid] = target

    def resolve(self, uuid: str) -> str:
        """The uid of the message at or above a line; "" at the top, the uuid itself if nobody knows it."""
        seen: set[str] = set()
        while uuid and uuid in self._up and uuid not in seen:
            seen.add(uuid)
            if self._up[uuid] == uuid:
                return uuid
            uuid = self._up[uuid]
        return "" if uuid in seen else (self._earlier(uuid) if uuid else "")


class Earlier:
    """The part of a file that an earlier run has read, looked into only for single lines, by their uuid."""

    def __init__(self, path: Path, end: int, uid_of: Callable[[Sequence[Record]], str]) -> None:
        self._path = path
        self._end = end
        self._uid_of = uid_of
        self._known: dict[str, str] = {}

    def __call__(self, uuid: str) -> str:
        if self._end and uuid not in self._known:
            self._known[uuid] = self._resolve(uuid)
        return self._known.get(uuid, uuid)

    def _resolve(self, uuid: str) -> str:
        with self._path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            current = uuid
            for _ in range(_MOST_STEPS):
                record = next(iter(self._lines(data, f'"uuid":"{current}"', 1)), None)
                if record is None:
                    return current
                reply = text_of(message_of(record).get("id"))
                lines = self._lines(data, f'"id":"{reply}"', _MOST_BLOCKS) if reply else [record]
                uid = self._uid_of(lines)
                if uid:
                    return uid
                current = text_of(record.get("logicalParentUuid")) or text_of(record.get("parentUuid"))
                if not current:
                    return ""
        return ""

    def _lines(self, data: mmap.mmap, needle: str, most: int) -> list[Record]:
        """The records that hold `needle`, with or without a blank after its colon: the last of them, `most` at most.

        A window at a time from the end, since what is asked for was read just before, and its lines stand together.
        """
        found: dict[int, Record] = {}
        spellings = [spelled.encode() for spelled in (needle, needle.replace(":", ": ", 1))]
        stop = self._end
        while stop > 0 and len(found) < most:
            before, first = len(found), max(0, stop - _WINDOW)
            for spelled in spellings:
                position, last = first, min(stop + len(spelled) - 1, self._end)
                while (hit := data.find(spelled, position, last)) >= 0:
                    start = data.rfind(b"\n", 0, hit) + 1
                    end = data.find(b"\n", hit)
                    end = len(data) if end < 0 else end
                    record = _record(data, start, end)
                    if record is not None and _holds(record, needle):
                        found[start] = record
                    position = end
            if found and len(found) == before:
                break
            if hasattr(mmap, "MADV_DONTNEED"):
                data.madvise(mmap.MADV_DONTNEED)  # or a file of a gigabyte would count as ours
            stop = first
        return [found[start] for start in sorted(found)][-most:]


def _record(data: mmap.mmap, start: int, end: int) -> Record | None:
    shortener = Shortener()
    for position in range(start, end, LONG_LINE):
        shortener.feed(data[position : min(position + LONG_LINE, end)])
    raw = shortener.close()
    values = records_of(raw, HEADS)[0] if raw else []
    return next((value for value in values if isinstance(value, dict)), None)


def _holds(record: Record, needle: str) -> bool:
    value = needle.split('"')[3]
    return value in (record.get("uuid"), message_of(record).get("id"))
