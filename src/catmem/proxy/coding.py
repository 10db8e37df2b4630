"""Our own copy of a body without its coding; what passes is never touched."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import brotli
import zstandard

# What a body may grow to: enough for any talk, too little to fill the memory with a bomb.
LONGEST_PLAIN = 256 << 20


class Unreadable(Exception):
    """A body that we cannot read; it passes as it came. Does not leave this package."""


def plain(body: bytes, coding: str) -> bytes:
    """A body without its Content-Encoding, of which there may be several. Raises Unreadable."""
    for name in reversed(_names(coding)):
        if name not in _DECODERS:
            raise Unreadable(name)
        try:
            body = _DECODERS[name](body)
        except (OSError, EOFError, ValueError, zlib.error, brotli.error, zstandard.ZstdError) as error:
            raise Unreadable(name) from error
    return body


def coded(body: bytes, coding: str) -> bytes:
    """The reverse. Raises Unreadable."""
    for name in _names(coding):
        if name not in _ENCODERS:
            raise Unreadable(name)
        body = _ENCODERS[name](body)
    return body


def _names(coding: str) -> list[str]:
    names = [name.strip().lower() for name in coding.split(",")]
    return [name for name in names if name not in ("", "identity")]


def _unzipped(body: bytes, window: int) -> bytes:
    found = b""
    while body:
        machine = zlib.decompressobj(window)
        found += machine.decompress(body, LONGEST_PLAIN - len(found) + 1)
        if machine.unconsumed_tail or len(found) > LONGEST_PLAIN:
            raise ValueError("too long")
        if not machine.eof or machine.unused_data == body:
            break
        body = machine.unused_data
    return found


def _inflated(body: bytes) -> bytes:
    """`deflate` is meant to have a zlib frame; some servers leave it out."""
    try:
        return _unzipped(body, zlib.MAX_WBITS)
    except zlib.error:
        return _unzipped(body, -zlib.MAX_WBITS)


def _unbrotlied(body: bytes) -> bytes:
    machine = brotli.Decompressor()
    found, size = [], 0
    for start in range(0, len(body), 1 << 16):
        piece = machine.process(body[start : start + (1 << 16)])
        size += len(piece)
        if size > LONGEST_PLAIN:
            raise ValueError("too long")
        found.append(piece)
    return b"".join(found)


def _unzstd(body: bytes) -> bytes:
    with zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True) as reader:
        found = bytes(reader.read(LONGEST_PLAIN + 1))
    if len(found) > LONGEST_PLAIN:
        raise ValueError("too long")
    return found


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: _unzipped(body, 16 + zlib.MAX_WBITS),
    "x-gzip": lambda body: _unzipped(body, 16 + zlib.MAX_WBITS),
    "deflate": _inflated,
    "br": _unbrotlied,
    "zstd": _unzstd,
}
_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda body: gzip.compress(body, 6, mtime=0),
    "x-gzip": lambda body: gzip.compress(body, 6, mtime=0),
    "deflate": zlib.compress,
    "br": lambda body: brotli.compress(body, quality=5),
    "zstd": lambda body: zstandard.ZstdCompressor().compress(body),
}
