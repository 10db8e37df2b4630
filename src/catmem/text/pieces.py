"""A text in pieces that a vector can stand for: of a page a single vector says what it is about on the whole, and the one
sentence that is looked for drowns in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

# About a paragraph. With twice as much, long sessions are found less; with half, there are twice as many rows.
MOST_WEIGHT = 240
# About how many tokens of a model a character is worth.
_DENSE, _PLAIN = 0.7, 0.25

LATIN, DENSE = 0, 1
"""Scripts, as far as models of several languages treat them differently: with blanks between the words, and without."""

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_SENTENCES = re.compile(r".*?(?:[。！？；]+|[.!?;]+(?=\s|$)|$)", re.DOTALL)


def script_of(text: str) -> int:
    dense = sum(map(_is_dense, text))
    # A Chinese character says as much as three letters.
    return DENSE if dense * 3 > sum(map(str.isalpha, text)) - dense else LATIN


def pieces_of(text: str, most: float = MOST_WEIGHT) -> list[str]:
    """The text cut at line ends, long lines at sentence ends, and packed into pieces of at most that weight."""
    pieces: list[str] = []
    room = 0.0
    for unit in _units(text, most):
        weight = _weight(unit)
        if pieces and weight <= room:
            pieces[-1] += unit
            room -= weight
        else:
            pieces.append(unit)
            room = most - weight
    return [piece for piece in map(str.strip, pieces) if piece]


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, one after the other; a line end ends one, too."""
    found = (sentence.strip() for line in text.splitlines() for sentence in _SENTENCES.findall(line))
    return [sentence for sentence in found if any(map(str.isalnum, sentence))]


def _units(text: str, most: float) -> Iterator[str]:
    for line in _LINES.findall(text):
        for part in [line] if _weight(line) <= most else filter(None, _SENTENCES.findall(line)):
            yield from _cut(part, most)


def _cut(part: str, most: float) -> Iterator[str]:
    """What has no end of a sentence is cut at blanks, else anywhere."""
    while _weight(part) > most:
        length = max(1, int(len(part) * most / _weight(part)))
        blank = part.rfind(" ", length // 2, length)
        length = blank + 1 if blank > 0 else length
        yield part[:length]
        part = part[length:]
    yield part


def _weight(text: str) -> float:
    if text.isascii():
        return len(text) * _PLAIN
    dense = sum(map(_is_dense, text))
    return dense * _DENSE + (len(text) - dense) * _PLAIN


def _is_dense(character: str) -> bool:
    return character >= "\u2e80"
