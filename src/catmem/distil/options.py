"""Which of several proposals a user takes who names it by its place: "the second", "option A", 方案二, 后者."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from catmem.distil.rulebook import phrase
from catmem.distil.transcript import Sentence

# The names of the places, in the order of the options; the last may be any.
_PLACES = ("first_option", "second_option", "third_option")
_LAST = -1
# Two options at least, or there is nothing to choose from.
_FEWEST = 2
# A clause of less says too little of what was chosen: about three English words, or five Chinese characters.
_LEAST_WIDTH = 10


@dataclass(frozen=True, slots=True)
class Option:
    """A proposal by the words that propose it, and the sentence of the assistant in which they stand."""

    sentence: Sentence
    text: str


def chosen_option(acceptance: str, proposing: Sequence[Sentence]) -> Option | None:
    """The option that `acceptance` names by its place; `proposing` are the sentences of the message before it."""
    place = _place(acceptance)
    if place is None:
        return None
    own = [sentence for sentence in proposing if sentence.unit.own]
    for options in (_marked(own), _alternatives(own)):
        if len(options) >= _FEWEST and place < len(options):
            option = options[place]
            return option if _width(option.text) >= _LEAST_WIDTH else None
    return None


def _place(acceptance: str) -> int | None:
    for place, name in enumerate(_PLACES):
        if phrase(name).search(acceptance):
            return place
    return _LAST if phrase("last_option").search(acceptance) else None


def _marked(proposing: Sequence[Sentence]) -> list[Option]:
    """Options that the assistant counts: "Option A: …", "first …, second …", 一是……二是……, or the items of a list."""
    listed = [Option(s, s.text) for s in proposing if s.unit.listed]
    if len(listed) >= _FEWEST:
        return listed
    options: list[Option] = []
    for sentence in proposing:
        starts = [mark.start() for mark in phrase("option_mark").finditer(sentence.text)]
        spans = pairwise([*starts, len(sentence.text)])
        options.extend(Option(sentence, _trimmed(sentence.text[start:end])) for start, end in spans)
    return options


def _alternatives(proposing: Sequence[Sentence]) -> list[Option]:
    """Options that are joined: "X keeps it simple, or Y"; 可以 X，也可以 Y; "X is …; Y is …"."""
    for sentence in proposing:
        parts = [_trimmed(part) for part in phrase("or").split(sentence.text)]
        if len(parts) >= _FEWEST and all(_width(part) >= _LEAST_WIDTH for part in parts):
            return [Option(sentence, part) for part in parts]
    return []


def _trimmed(text: str) -> str:
    return re.sub(r"^[\s,;:，；：、]+|[\s,;:，；：、]+$", "", text)


def _width(text: str) -> int:
    """Columns of what is said beside names in code marks: a choice of names for one thing is no design."""
    return sum(1 if c.isascii() else 2 for c in re.sub(r"`[^`]*`", "", text))
