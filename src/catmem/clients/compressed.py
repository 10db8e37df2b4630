"""Files that another program may have compressed: read like plain ones, as far as they are whole."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from catmem.clients.reasons import Reason

if TYPE_CHECKING:
    import zstandard

SUFFIX = ".zst"
_LARGEST_PIECE = 1 << 20


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Opens a plain or compressed file to read its bytes, by its name. Raises OSError."""
    with path.open("rb") as file:
        yield cast(BinaryIO, Decompressed(file)) if path.suffix == SUFFIX else file


def damage_of(file: BinaryIO) -> str:
    """Why a compressed file ended where it did; "" if it is whole."""
    return file.damage if isinstance(file, Decompressed) else ""


def damaged(detail: str) -> Reason:
    return f"the compressed file is damaged from here on ({detail})", f"压缩文件从此处起已损坏（{detail}）"


class Decompressed(io.RawIOBase):
    """The bytes of a zstd file, from the front to the back; a damaged one ends where the damage begins."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.damage = ""
        self._file = file
        self._position = 0
        self._most = _LARGEST_PIECE
        self._stream = self._begin()

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        import zstandard

        size = self._most if size < 0 else min(size, self._most)
        try:
            data = self._stream.read(size)
        except zstandard.ZstdError as error:
            if size <= 1:
                self.damage = str(error)
                return b""
            # What stands before the damage comes out only in smaller pieces.
            self._most = size // 2
            self._again()
            return self.read(self._most)
        self._position += len(data)
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """To an offset from the start only."""
        if offset < self._position:
            self._stream, self._position = self._begin(), 0
        while self._position < offset and self.read(offset - self._position):
            pass
        return self._position

    def _again(self) -> None:
        """Comes back to the present position with a fresh stream."""
        position, self._position = self._position, 0
        self._stream = self._begin()
        self.seek(position)

    def _begin(self) -> zstandard.ZstdDecompressionReader:
        # Loaded only where such a file is met.
        import zstandard

        self._file.seek(0)
        return zstandard.ZstdDecompressor().stream_reader(self._file, read_across_frames=True, closefd=False)
