"""JSON lines of foreign files, read in bounded memory: a line may be cut, broken, two records, or gigabytes long.

A string of more than `STRING_LIMIT` bytes inside a long line is shortened while it is read; what stands in its place
says how much is missing. So a pasted video costs its first megabyte and not the process.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from catmem.text.encoding import clean, decode_line

BLOCK = 1 << 20
# Lines up to here are read whole: ten in 9,500 lines of real transcripts are longer than 64 KB.
LONG_LINE = 1 << 20
# What a person pastes stays whole up to here; what a tool printed is cut much shorter, by its reader.
STRING_LIMIT = 1 << 20
# When a line has kept this much, its further strings are cut at `SHORT_STRING`; beyond LINE_LIMIT it is given up.
LINE_BUDGET = 12 << 20
SHORT_STRING = 4 << 10
LINE_LIMIT = 24 << 20


class Line(NamedTuple):
    """One physical line: `raw` without its line end, or None if it was too long to keep; `end` is after the line end.

    `number` counts from 1. `ended` is False for a last line without a newline, which may still be being written.
    """

    number: int
    start: int
    end: int
    raw: bytes | None
    ended: bool


def read_lines(file: BinaryIO, offset: int = 0, lines_before: int = 0) -> Iterator[Line]:
    """The lines of an open file from `offset` on."""
    file.seek(offset)
    number, start, held = lines_before, offset, b""
    while True:
        block = file.read(BLOCK)
        held += block
        position = 0
        while (newline := held.find(b"\n", position)) >= 0:
            number += 1
            end = start + newline + 1 - position
            yield Line(number, start, end, held[position:newline], True)
            start, position = end, newline + 1
        held = held[position:]
        if len(held) > LONG_LINE and block:
            number += 1
            line, held = _long_line(file, held, number, start)
            yield line
            start = line.end
        elif not block:
            if held:
                yield Line(number + 1, start, start + len(held), held, False)
            return


def _long_line(file: BinaryIO, held: bytes, number: int, start: int) -> tuple[Line, bytes]:
    """Reads on to the end of a long line. Returns it shortened, and what was read beyond it."""
    shortener = Shortener()
    end = start
    while held:
        newline = held.find(b"\n")
        piece = held if newline < 0 else held[:newline]
        shortener.feed(piece)
        end += len(piece)
        if newline >= 0:
            return Line(number, start, end + 1, shortener.close(), True), held[newline + 1 :]
        held = file.read(BLOCK)
    return Line(number, start, end, shortener.close(), False), b""


# The body of a JSON string, escapes included. Possessive: it never goes back, whatever the length.
_STRING_BODY = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_WHOLE_ESCAPES = re.compile(rb'(?:[^"\\]++|\\u[0-9A-Fa-f]{4}|\\[^u])*+', re.DOTALL)
_HIGH_SURROGATE_AT_END = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")


class Shortener:
    """Copies JSON text that arrives in pieces and shortens its long strings on the way."""

    def __init__(self, limit: int = STRING_LIMIT) -> None:
        self._limit = limit
        self._kept = bytearray()
        self._inside = False  # a string
        self._escape = b""  # a backslash whose partner is in the next piece
        self._start = 0  # where the present string begins in what is kept
        self._length = 0  # of the present string so far
        self._dropped = 0

    def feed(self, piece: bytes) -> None:
        piece, self._escape = self._escape + piece, b""
        position = 0
        while position < len(piece):
            position = self._string(piece, position) if self._inside else self._between(piece, position)

    def close(self) -> bytes | None:
        """The shortened text, or None if even that is too much to parse."""
        self._keep(self._escape)
        return bytes(self._kept) if len(self._kept) <= LINE_LIMIT else None

    def _between(self, piece: bytes, position: int) -> int:
        quote = piece.find(b'"', position)
        end = len(piece) if quote < 0 else quote + 1
        self._keep(piece[position:end])
        if quote >= 0:
            self._inside, self._start, self._length, self._dropped = True, len(self._kept), 0, 0
        return end

    def _string(self, piece: bytes, position: int) -> int:
        match = _STRING_BODY.match(piece, position)
        end = match.end() if match else position
        self._body(piece[position:end])
        if end == len(piece):
            return end
        if piece[end : end + 1] == b"\\":  # the last byte of the piece
            self._escape = b"\\"
            return len(piece)
        if self._dropped:
            self._keep(left_out(self._dropped).encode())
        self._keep(b'"')
        self._inside = False
        return end + 1

    def _body(self, body: bytes) -> None:
        limit = self._limit if len(self._kept) < LINE_BUDGET else SHORT_STRING
        room = limit - self._length
        self._length += len(body)
        if self._dropped:
            self._dropped += len(body)
        elif len(body) > room:
            self._keep(body[: max(room, 0)])
            head = _whole_characters(bytes(self._kept[self._start :]))
            self._kept[self._start :] = head
            self._dropped = self._length - len(head)
        else:
            self._keep(body)

    def _keep(self, data: bytes) -> None:
        # Beyond the limit the line is lost anyway: only its end is still looked for.
        if len(self._kept) <= LINE_LIMIT:
            self._kept += data


def _whole_characters(head: bytes) -> bytes:
    """The part of a cut string body that ends in no half escape, no half pair and no half character."""
    match = _WHOLE_ESCAPES.match(head)
    head = head[: match.end()] if match else b""
    head = _HIGH_SURROGATE_AT_END.sub(b"", head)
    for back in range(1, min(4, len(head)) + 1):
        lead = head[-back]
        if lead >= 0xC0:  # 110…, 1110… and 11110… begin characters of 2, 3 and 4 bytes
            return head[:-back] if back < 2 + (lead >= 0xE0) + (lead >= 0xF0) else head
        if lead < 0x80:
            break
    return head


def left_out(size: int) -> str:
    """What stands where `size` bytes are missing."""
    return f" […{size} bytes left out]"


_LEFT_OUT = re.compile(r" \[…(\d+) bytes left out\]\Z")


def full_size(text: str) -> int:
    """The bytes that a string had before it was shortened."""
    match = _LEFT_OUT.search(text[-60:])
    if not match:
        return len(text.encode("utf-8", "replace"))
    return len(text.encode("utf-8", "replace")) - len(match[0].encode()) + int(match[1])


def shortened(text: str, limit: int) -> str:
    """`text` in at most `limit` bytes of UTF-8, the note of what is missing included."""
    if len(text) * 4 <= limit:
        return text
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    match = _LEFT_OUT.search(text[-60:])
    body = data[: -len(match[0].encode())] if match else data
    room = limit - len(left_out(full_size(text)).encode())
    head = body[:room].decode("utf-8", "ignore")
    return head + left_out(full_size(text) - len(head.encode()))


_DECODER = json.JSONDecoder(strict=False)
_BLANK = " \t\r\n\x00\ufeff"


def records_of(raw: bytes, heads: re.Pattern[str] | None = None) -> tuple[list[object], str]:
    """The JSON values of one line and why its rest could not be read ("" if all was).

    Two records without a newline between them are two records. After a broken part the line is searched for a
    record that begins with one of `heads` and reaches to its end: what follows a torn write is whole again.
    """
    text = decode_line(raw).strip(_BLANK)
    found: list[object] = []
    position = 0
    while position < len(text):
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            tail = _whole_tail(text, position, heads)
            return found + tail, _reason(error)
        found.append(value)
        while position < len(text) and text[position] in _BLANK:
            position += 1
    return found, ""


def _whole_tail(text: str, position: int, heads: re.Pattern[str] | None) -> list[object]:
    for match in heads.finditer(text, position + 1) if heads else ():
        try:
            value, end = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if end == len(text):
            return [value]
    return []


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ValueError) else "nested too deeply"


def cleaned(text: str) -> str:
    """Foreign text as it may be kept; the fast way for plain text."""
    return text if text.isascii() and "\x00" not in text else clean(text)
