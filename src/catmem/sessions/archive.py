"""The older part of a session, compressed: its lines as they stood in the live file, byte for byte.

The file is zstd frames, one after the other, so `zstd -dc` reads it. Each frame begins with a `listing` mark that says
whose it is, and holds message lines in the order of the live file. A damaged frame costs that frame.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any, BinaryIO

import zstandard

from catmem.sessions.locks import make_folder
from catmem.sessions.names import Place
from catmem.sessions.records import encode, is_message, mark_record, scan
from catmem.sessions.refusals import read_failed
from catmem.sessions.rewrite import replace_file, sync_folder

# One damaged byte costs a frame; smaller ones would compress worse by a tenth and more.
FRAME_BYTES = 1 << 20
# Three is zstd's own choice: text shrinks to about a seventh at the speed of the disk.
_LEVEL = 3
# A frame of ours holds FRAME_BYTES and one record; what claims more than this is no frame of ours.
_LARGEST_FRAME = 1 << 30
_LARGEST_WINDOW = 1 << 27
_PIECE = 1 << 16
_MAGIC = b"\x28\xb5\x2f\xfd"

Line = tuple[bytes, dict[str, Any]]
"""A line with its newline, and the record that stands in it."""


@dataclass(frozen=True, slots=True)
class Archive:
    """What an archive says. `listed` is the newest listing of it; `bad` are `(offset, bytes, reason)`."""

    lines: tuple[Line, ...] = ()
    listed: dict[str, Any] | None = None
    bad: tuple[tuple[int, bytes, str], ...] = ()


def read_archive(place: Place) -> Archive:
    """The lines of a session's archive, oldest first; an empty one if there is none. Raises StorageFailed."""
    lines: list[Line] = []
    listed: dict[str, Any] | None = None
    bad = []
    for offset, raw, text, reason in _frames(place.archive):
        if reason:
            bad.append((offset, raw, reason))
        for _, line, records, fault in scan(text):
            if fault:
                bad.append((offset, line, fault))
            for body, record in records:
                if is_message(record):
                    lines.append((body + b"\n", record))
                elif record["mark"] == "listing":
                    listed = record
    return Archive(tuple(lines), listed, tuple(bad))


def archived_lines(place: Place) -> Iterator[Line]:
    """The whole message lines of an archive, oldest first, a frame of them in memory at a time. Raises StorageFailed."""
    for _, _, text, _ in _frames(place.archive):
        for _, _, records, _ in scan(text):
            yield from ((body + b"\n", record) for body, record in records if is_message(record))


def damage(place: Place) -> list[tuple[int, bytes, str]]:
    """What cannot be read of an archive, as `(offset, bytes, reason)`. Raises StorageFailed."""
    bad = []
    for offset, raw, text, reason in _frames(place.archive):
        if reason:
            bad.append((offset, raw, reason))
        bad += [(offset, line, fault) for _, line, _, fault in scan(text) if fault]
    return bad


def add(place: Place, header: dict[str, Any], lines: Iterable[Line], now: str) -> None:
    """Adds lines at the end, whole or not at all; what is there, damaged or not, is not touched. Raises OSError.

    Call it under the session's lock. `header` is the session's, for whoever finds the archive alone.
    """
    make_folder(os.path.dirname(place.archive))
    replace_file(place.archive, chain(_blocks_of(place.archive), _packed(header, lines, now)))


def rewrite(place: Place, header: dict[str, Any], lines: Iterable[Line], now: str) -> None:
    """Replaces the whole archive by these lines, or removes it if they are an empty list. Raises OSError."""
    if lines:
        replace_file(place.archive, _packed(header, lines, now))
    else:
        remove(place)


def remove(place: Place) -> None:
    """Removes the archive, if there is one. Raises OSError."""
    if os.path.exists(place.archive):
        os.unlink(place.archive)
        sync_folder(os.path.dirname(place.archive))


def _packed(header: dict[str, Any], lines: Iterable[Line], now: str) -> Iterator[bytes]:
    metadata = {name: header["metadata"][name] for name in ("project", "cwd", "client")}
    listing = mark_record("listing", now, key=header["key"], header={"title": header["title"], "metadata": metadata})
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True, write_content_size=True)
    part, size = [encode(listing)], 0
    for line, _ in lines:
        if size >= FRAME_BYTES:
            yield compressor.compress(b"".join(part))
            part, size = [], 0
        part.append(line)
        size += len(line)
    yield compressor.compress(b"".join(part))


def _frames(path: str) -> Iterator[tuple[int, bytes, bytes, str]]:
    """Every frame: `(offset, raw, text, reason)`, `raw` of damage alone; behind it comes where the next frame begins."""
    try:
        with open(path, "rb", buffering=0) as file:
            size, offset = file.seek(0, os.SEEK_END), 0
            while offset < size:
                text, used = _frame(file, offset)
                if used:
                    yield offset, b"", text, ""
                else:
                    used = _next_frame(file, offset + 1, size) - offset
                    yield offset, _read(file, offset, used), b"", "a damaged part of the archive"
                offset += used
    except FileNotFoundError:
        return
    except OSError as error:
        raise read_failed(path, error) from error


def _next_frame(file: BinaryIO, offset: int, size: int) -> int:
    """Where the next whole frame begins, or the end of the file."""
    while offset < size:
        block = _read(file, offset, FRAME_BYTES)
        found = block.find(_MAGIC)
        while found >= 0 and not _frame(file, offset + found)[1]:
            found = block.find(_MAGIC, found + 1)
        if found >= 0:
            return offset + found
        offset += max(1, len(block) - len(_MAGIC) + 1)
    return size


def _frame(file: BinaryIO, offset: int) -> tuple[bytes, int]:
    """The text of the frame at an offset and its length in the file; length 0 if there is no whole one."""
    reader = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).decompressobj()
    read, size, parts = 0, 0, []
    try:
        while not reader.eof and size <= _LARGEST_FRAME and (piece := _read(file, offset + read, _PIECE)):
            parts.append(reader.decompress(piece))
            read += len(piece)
            size += len(parts[-1])
    except (zstandard.ZstdError, MemoryError):
        return b"", 0
    return (b"".join(parts), read - len(reader.unused_data)) if reader.eof else (b"", 0)


def _read(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


def _blocks_of(path: str) -> Iterator[bytes]:
    """The bytes of a file, a piece at a time; none if there is no such file. Raises StorageFailed."""
    try:
        with open(path, "rb", buffering=0) as file:
            while piece := file.read(FRAME_BYTES):
                yield piece
    except FileNotFoundError:
        return
    except OSError as error:
        raise read_failed(path, error) from error
