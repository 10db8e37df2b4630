"""What a sentence says fills a slot, and what it says goes: "tests run on vitest now, we threw jest out"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from catmem.distil.rulebook import any_of, phrase, plain, read_table

# What the code is written with, and what it runs on.
SLOT_FILES = ("slots.toml", "services.toml")


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of choice. `words` tell that a sentence is about it; `members` map a name to its family.

    `ambiguous`: its members are everyday words too, so a sentence has to name the slot itself. `parts` are words for
    what each has a value of its own: Python and YAML are indented each in its way.
    """

    name: str
    single: bool
    ambiguous: bool
    words: re.Pattern[str]
    members: Mapping[str, str]
    found: re.Pattern[str]
    parts: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class Filling:
    """One slot in one sentence: its values in force, and those that are said to go or are refused.

    `subject` is the slot with its family and the part of the project that it holds for; `named` tells that the sentence
    speaks of the slot itself and not only of a member.
    """

    slot: Slot
    subject: str
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    named: bool


@cache
def load_slots() -> tuple[Slot, ...]:
    """The lexicon of the package; read and compiled once a process."""
    return tuple(_slot(row) for name in SLOT_FILES for row in read_table(name)["slot"])


@lru_cache(maxsize=16384)
def fillings(text: str) -> tuple[Filling, ...]:
    """Every slot that a sentence speaks of by one of its members."""
    sentence = plain(text)
    part = _part(sentence)
    found: list[Filling] = []
    for slot in load_slots():
        by_family: dict[str, tuple[list[str], list[str]]] = {}
        for name, start, end in _mentions(slot, sentence):
            kept, dropped = by_family.setdefault(slot.members[name], ([], []))
            (dropped if _goes(sentence, start, end) else kept).append(name)
        named = bool(slot.words.search(sentence))
        for family, (kept, dropped) in by_family.items():
            if named or not slot.ambiguous:
                whose = (part, _own_part(slot, sentence), family if family != "any" else "", slot.name)
                subject = " ".join(filter(None, whose))
                staying = tuple(dict.fromkeys(k for k in kept if k not in dropped))
                found.append(Filling(slot, subject, staying, tuple(dict.fromkeys(dropped)), named))
    return tuple(found)


def _own_part(slot: Slot, sentence: str) -> str:
    found = slot.parts.search(sentence) if slot.parts else None
    return found.group().lower() if found else ""


def _part(sentence: str) -> str:
    return next((name for name, pattern in _parts() if pattern.search(sentence)), "")


@cache
def _parts() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((row["name"], any_of(row["words"])) for row in read_table("slots.toml")["part"])


def _mentions(slot: Slot, sentence: str) -> Iterator[tuple[str, int, int]]:
    for match in slot.found.finditer(sentence):
        yield match.group().lower(), match.start(), match.end()


def _goes(sentence: str, start: int, end: int) -> bool:
    if phrase("dropped_after").match(sentence[end : end + 30]):
        return True
    return bool(phrase("dropped_before").search(sentence[max(0, start - 30) : start]))


def _slot(row: Mapping[str, Any]) -> Slot:
    members = {name.lower(): family for family, names in row["members"].items() for name in names}
    return Slot(
        row["name"],
        row["single"],
        row.get("ambiguous", False),
        _bounded(row["words"]),
        members,
        _bounded(map(re.escape, members)),
        _bounded(row["parts"]) if "parts" in row else None,
    )


def _bounded(patterns: Sequence[str] | Iterator[str]) -> re.Pattern[str]:
    """The patterns as whole words; Chinese has no word ends, and Latin words in Chinese text have none either."""
    longest_first = sorted(patterns, key=len, reverse=True)
    return re.compile(
        r"(?<![A-Za-z0-9_/.-])(?:" + "|".join(longest_first) + r")(?![A-Za-z0-9_/-]|\.[a-z])", re.IGNORECASE
    )
