"""The file of vectors of one type of document: rows of one size, appended; standard library only.

A row is a vector of one piece of a text, as signed bytes, its length left open: beside the spread of the cosines of real models
(0.02) what rounding costs is nothing (0.0006), and a row is a quarter of one of floats, so a query reads a quarter.
Halves (float16) would be twice that, and no faster: numpy widens either before it multiplies.

A row names its document by the key that the search index has for it, a hash of what the document is and says. What is
no longer so is in no index, and a row without a document is never found, even before it is taken out.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from catmem.settings.paths import FILE_MODE
from catmem.settings.places import state_of

# The key of the document, the hash of its home, the number of the piece, how many there are, its script, the checksum.
HEAD = struct.Struct("<qqHHHxxI")
_UNCHECKED = HEAD.size - 4
# A whole multiple of it is read at once.
_CHUNK_ROWS = 4096


class Row(NamedTuple):
    """A piece of a text as it is kept; `script` is that of text.scripts."""

    key: int
    home: int
    piece: int
    pieces: int
    script: int
    vector: Sequence[float]


class RowFile:
    """The rows of `path`; a file that is missing has none. `dimension` is the length of a vector."""

    def __init__(self, path: Path, dimension: int) -> None:
        self._path = path
        self.dimension = dimension
        self.size = HEAD.size + dimension

    def state(self) -> tuple[int, int, int]:
        """What tells one state of the file from the next; zeros without one."""
        try:
            return state_of(self._path.stat())
        except OSError:
            return 0, 0, 0

    def append(self, rows: Iterable[Row]) -> None:
        """Adds rows in one write, behind the last whole one. Raises OSError."""
        self.append_packed(b"".join(map(packed, rows)))

    def append_packed(self, data: bytes) -> None:
        """The same of rows that are packed already. Raises OSError."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, FILE_MODE)
        try:
            end = os.fstat(descriptor).st_size // self.size * self.size
            os.ftruncate(descriptor, end)
            os.lseek(descriptor, end, os.SEEK_SET)
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
        finally:
            os.close(descriptor)

    def complete_keys(self) -> set[int]:
        """The keys of the documents of which every piece is there and whole: a killed write may have left some."""
        seen: dict[int, int] = {}
        wanted: dict[int, int] = {}
        for raw in self._raw():
            key, _, piece, pieces, *_ = HEAD.unpack_from(raw)
            if _is_sound(raw) and piece < pieces:
                seen[key] = seen.get(key, 0) + 1
                wanted[key] = pieces
        return {key for key, count in seen.items() if count == wanted[key]}

    def keep(self, keys: Collection[int]) -> int:
        """Writes the file anew with the rows of these keys alone, where it has others; says how many rows went.

        Whoever reads the old file keeps what he has opened. Raises OSError.
        """
        if not any(not _is_sound(raw) or HEAD.unpack_from(raw)[0] not in keys for raw in self._raw()):
            return 0
        for left in self._path.parent.glob(f".{self._path.name}.*.tmp"):  # by a write that was killed
            left.unlink(missing_ok=True)
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.tmp")
        gone = 0
        try:
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE), "wb") as file:
                for raw in self._raw():
                    if _is_sound(raw) and HEAD.unpack_from(raw)[0] in keys:
                        file.write(raw)
                    else:
                        gone += 1
            temporary.replace(self._path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        return gone

    def _raw(self) -> Iterator[bytes]:
        """The rows as they lie in the file; what is less than one at its end is none."""
        with contextlib.suppress(FileNotFoundError), self._path.open("rb") as file:
            while chunk := file.read(self.size * _CHUNK_ROWS):
                for start in range(0, len(chunk) - self.size + 1, self.size):
                    yield chunk[start : start + self.size]


def packed(row: Row) -> bytes:
    largest = max(map(abs, row.vector)) or 1.0
    numbers = bytes(round(number / largest * 127) & 0xFF for number in row.vector)
    head = HEAD.pack(row.key, row.home, row.piece, row.pieces, row.script, 0)
    return head[:_UNCHECKED] + struct.pack("<I", zlib.crc32(numbers, zlib.crc32(head[:_UNCHECKED]))) + numbers


def _is_sound(raw: bytes) -> bool:
    (checksum,) = struct.unpack_from("<I", raw, _UNCHECKED)
    return bool(checksum == zlib.crc32(raw[HEAD.size :], zlib.crc32(raw[:_UNCHECKED])))
