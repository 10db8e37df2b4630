"""The items of one large JSON array, one at a time: an export of many conversations in bounded memory.

A document that is an object is one item. What is broken inside an item costs that item.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, NamedTuple

from catmem.clients.lines import BLOCK, LONG_LINE, Shortener, records_of


class Item(NamedTuple):
    """One item: its value, or None and why there is none; the line that it begins on, and the offset behind it."""

    value: object
    reason: str
    line: int
    end: int


_MARK = re.compile(rb'["\[\]{}]')
_STRING_BODY = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)


class _Scanner:
    """Finds where items begin and end in bytes that arrive in pieces."""

    def __init__(self) -> None:
        self._depth = 0
        self._inside = self._escape = False  # a string; a backslash whose partner is in the next piece
        self._outermost = -1  # the depth at which items stand; -1 before the document began

    def borders(self, piece: bytes) -> Iterator[tuple[int, bool]]:
        """The places where an item begins (True), or behind which it ends (False)."""
        position = 1 if self._escape else 0
        self._escape = False
        while position < len(piece):
            if self._inside:
                match = _STRING_BODY.match(piece, position)
                position = match.end() if match else position
                if position < len(piece):
                    self._escape = piece[position : position + 1] == b"\\"  # only as the last byte
                    self._inside = self._escape
                    position += 1
                continue
            mark = _MARK.search(piece, position)
            if mark is None:
                return
            position = mark.end()
            if mark[0] == b'"':
                self._inside = True
            elif mark[0] in b"[{":
                if self._outermost < 0:
                    self._outermost = 1 if mark[0] == b"[" else 0
                self._depth += 1
                if self._depth == self._outermost + 1:
                    yield mark.start(), True
            else:
                self._depth -= 1
                if self._depth == self._outermost:
                    yield position, False


class _Kept:
    """The bytes of one item; the long strings of a very long one are shortened."""

    def __init__(self, line: int) -> None:
        self.line = line
        self._bytes = bytearray()
        self._shortener: Shortener | None = None

    def add(self, piece: bytes) -> None:
        if self._shortener is None and len(self._bytes) + len(piece) > LONG_LINE:
            self._shortener = Shortener()
            self._shortener.feed(bytes(self._bytes))
        if self._shortener is None:
            self._bytes += piece
        else:
            self._shortener.feed(piece)

    def item(self, end: int) -> Item:
        raw = self._shortener.close() if self._shortener else bytes(self._bytes)
        if raw is None:
            return Item(None, "too long to read", self.line, end)
        values, reason = records_of(raw)
        if reason or len(values) != 1:
            return Item(None, reason or "no whole record", self.line, end)
        return Item(values[0], "", self.line, end)


def items_of(file: IO[bytes]) -> Iterator[Item]:
    """The items of the document in an open file. A last one that is cut off comes with a reason."""
    scanner, kept = _Scanner(), None
    offset, line = 0, 1
    while piece := file.read(BLOCK):
        done = 0
        for place, begins in scanner.borders(piece):
            if begins:
                line += piece.count(b"\n", done, place)
                kept, done = _Kept(line), place
            elif kept:
                kept.add(piece[done:place])
                yield kept.item(offset + place)
                line += piece.count(b"\n", done, place)
                kept, done = None, place
        if kept:
            kept.add(piece[done:])
        line += piece.count(b"\n", done)
        offset += len(piece)
    if kept:
        yield kept.item(offset)
