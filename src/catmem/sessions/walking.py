"""Reading a session record by record: in memory are a block of its file and some bytes of each message, never all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from catmem.domain.errors import NotFound
from catmem.sessions import body
from catmem.sessions import header as line1
from catmem.sessions.blocks import blocks, scan_blocks
from catmem.sessions.names import Place
from catmem.sessions.records import is_message
from catmem.sessions.refusals import read_failed
from catmem.sessions.uids import Uids

if TYPE_CHECKING:
    from catmem.sessions.records import Piece


def walk(place: Place) -> Iterator[dict[str, Any]]:
    """The records that `read_file` gives: messages that only the archive has, then those and the marks of the live file.

    Each message comes once. What is damaged is left out; a reading of the whole, or a check, tells of it. Whoever
    writes meanwhile is not waited for: the file is read as far as it went at the start.
    Raises NotFound, StorageFailed.
    """
    try:
        with open(place.file, "rb", buffering=0) as file:
            session = Live(file)
            if os.path.exists(place.archive):
                yield from _archived(place, session)
            yield from _each_once(session.records())
    except FileNotFoundError as error:
        raise NotFound(
            f"no session in {place.file}; it was deleted meanwhile", f"{place.file} 中没有会话；它已被删除"
        ) from error
    except OSError as error:
        raise read_failed(place.file, error) from error


class Live:
    """A live file as it was when it was opened; it may be read more than once.

    `line1`, if given, is what stood in the first line while nobody wrote; all else of the file is never changed.
    """

    def __init__(self, file: BinaryIO, line1: bytes = b"") -> None:
        self._file = file
        self.line1 = line1
        self.size = os.fstat(file.fileno()).st_size
        self.key = self._key()

    def records(self) -> Iterator[dict[str, Any]]:
        """The session's own records."""
        for _, _, found, _ in self.pieces():
            for _, record in body.own(found, self.key)[0]:
                yield record

    def pieces(self) -> Iterator[Piece]:
        """Every line, as `records.scan` gives it."""
        return scan_blocks(blocks(self._read, 0, self.size))

    def _key(self) -> str:
        """The session's key, as `body.owner` finds it: the first record that agrees with line 1 settles it."""
        first = next(self.pieces(), (0, b"", [], ""))
        said = body.line1_of(first)[1].get("key", "")
        if line1.unpack(first[1])[0] is not None:
            return said
        return body.owner(self.pieces(), said) or said

    def _read(self, start: int, stop: int) -> bytes:
        self._file.seek(start)
        return self.line1[start:stop] + self._file.read(stop - start)[len(self.line1[start:stop]) :]


def _archived(place: Place, session: Live) -> Iterator[dict[str, Any]]:
    """The messages that have left the live file."""
    from catmem.sessions.archive import archived_lines  # zstd is loaded only where there is one

    ids, uids = Uids(), Uids()
    for record in session.records():
        if is_message(record):
            ids.add(str(record["id"]))
            uids.add(record.get("uid", ""))
    for _, record in archived_lines(place):
        uid = record.get("uid", "")
        if ids.add(str(record["id"])) and not (uid and uid in uids):
            yield record


def _each_once(records: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    seen = Uids()
    for record in records:
        uid = record.get("uid", "") if is_message(record) else ""
        if not uid or seen.add(uid):
            yield record
