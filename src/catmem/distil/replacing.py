"""Whether a later statement puts an earlier one out of force, by their words alone."""

from __future__ import annotations

import re
from functools import lru_cache

from catmem.distil.rulebook import phrase
from catmem.distil.slots import fillings
from catmem.domain.likeness import likeness, shared_weight, terms, values

# Told that something changes, so much likeness is enough to see that it is this.
_LIKE, _LIKE_WEIGHT = 0.4, 1.2
# One name or two Chinese bigrams; of what is said to go, half of the words at least.
_NAMED, _HALF = 1.0, 0.5
# From here on two sentences are about one thing, so that a number in which they differ was corrected.
ALIKE = 0.55
_LETTER = re.compile(r"(?<=[^\W\d_])\s?(?<![A-Za-z])([A-HJ-Z])(?![A-Za-z0-9'’+#.-])")
# What a change is about stands at the beginning of the earlier statement too: in this share of its words.
_BEGINNING = 0.5
# What people say or leave out behind the name of a place where something runs.
_ENVIRONMENT = re.compile(r"(?:\b(?:the|our) )|(?<=\w) ?(?:environment|env|server|环境|環境|服务器)$", re.IGNORECASE)
_PLACED = re.compile(
    r"(?:remember:? |记住[：:]?)?(?:the |our )?([^,，。;；]{1,24}?) ?"
    r"(?:\b(?:runs?|lives?|sits?|is|are|goes) (?:on|in|at|with)\b|(?:现在|目前|都|就)?(?:跑|放|部署|搭|托管|架|存|建)?在)",
    re.IGNORECASE,
)


def replaces(later: str, earlier: str, *, told: bool) -> bool:
    """`told`: the later sentence says, by whatever word, that something changed."""
    if corrects(later, earlier) or _names_what_goes(later, earlier):
        return True
    if not told:
        return False
    if likeness(later, earlier) >= _LIKE and shared_weight(later, earlier) >= _LIKE_WEIGHT:
        return True
    return any(told_of(later, earlier) for told_of in (_measured_anew, _numbered_anew, _filled_anew, _about_the_same))


def corrects(later: str, earlier: str) -> bool:
    """Whether a later sentence gives another value for what an earlier one said: a number, a version, a slot's member."""
    if slot_conflict(later, earlier):
        return True
    mine, theirs = values(later), values(earlier)
    if _letters(later) != _letters(earlier):
        return False
    return bool(mine - theirs and theirs - mine) and likeness(later, earlier) >= ALIKE


def _letters(text: str) -> frozenset[str]:
    """What is told from its like by a letter: service A, 方案 B."""
    return frozenset(_LETTER.findall(text))


def slot_conflict(later: str, earlier: str) -> bool:
    """Whether both fill a slot that holds one value, with different ones, or the later drops the value of the earlier."""
    for mine in fillings(later):
        for theirs in fillings(earlier):
            if mine.slot.name != theirs.slot.name:
                continue
            if set(mine.dropped) & set(theirs.kept):
                return True
            apart = mine.kept and theirs.kept and not set(mine.kept) & set(theirs.kept)
            if mine.slot.single and mine.subject == theirs.subject and apart and mine.named and theirs.named:
                return True
    return False


def only_goes(text: str) -> bool:
    """Whether it is said of something that it goes, and nothing else: not what comes in its place."""
    rests = (text[: match.start()] + " " + text[match.end() :] for match in phrase("goes").finditer(text))
    return any(sum(terms(rest).values()) < _NAMED for rest in rests)


def _names_what_goes(later: str, earlier: str) -> bool:
    known = terms(earlier)
    for gone in _caught("goes", later):
        weights = terms(gone)
        shared = sum(weight for term, weight in weights.items() if term in known)
        if shared >= _NAMED and shared >= _HALF * min(sum(weights.values()), 2.0):
            return True
    return False


def _measured_anew(later: str, earlier: str) -> bool:
    """Another number of the same unit, about something that both name."""
    mine, theirs = _units(later), _units(earlier)
    other = any(theirs[unit] != number for unit, number in mine.items() if unit in theirs)
    return other and shared_weight(later, earlier) >= _NAMED


def _units(text: str) -> dict[str, str]:
    pattern = phrase("measures")
    return {m.group()[len(m.group(m.lastindex or 0)) :].strip(" -").lower(): m.group(m.lastindex or 0)
            for m in pattern.finditer(text)}  # fmt: skip


def _numbered_anew(later: str, earlier: str) -> bool:
    """Another version or number of a thing that both name: Postgres 12, Postgres 16."""
    mine, theirs = _numbers(later), _numbers(earlier)
    return any(theirs[name] != number for name, number in mine.items() if name in theirs)


def _numbers(text: str) -> dict[str, str]:
    return {name.lower(): number for name, number in phrase("numbered").findall(text) if terms(name)}


def _filled_anew(later: str, earlier: str) -> bool:
    """Another value of a slot, of which one of the two need not speak by its name: we switched to vitest."""
    for mine in fillings(later):
        for theirs in fillings(earlier):
            same = mine.slot.name == theirs.slot.name and mine.subject.endswith(theirs.subject)
            told = (mine.named and theirs.named) or (mine.slot.single and (mine.named or theirs.named))
            if same and told and mine.kept and theirs.kept and not set(mine.kept) & set(theirs.kept):
                return True
    return False


def _about_the_same(later: str, earlier: str) -> bool:
    beginning = terms(earlier[: max(8, int(len(earlier) * _BEGINNING))])
    for topic in _caught("about", later):
        weights = terms(topic)
        named = weights and all(term in beginning for term in weights) and sum(weights.values()) >= _NAMED * 0.6
        placed = _PLACED.match(earlier)
        if not placed:
            if named:
                return True
            continue
        # Staging runs on X, 预发在 X 上: it is of staging, and of nothing that merely has its name, as its database.
        mine, theirs = (_ENVIRONMENT.sub("", text.strip().casefold()) for text in (topic, placed.group(1)))
        if mine and (mine == theirs or (named and not theirs.startswith(f"{mine} "))):
            return True
    return False


# Each statement is held against each memory there is.
@lru_cache(maxsize=16384)
def _caught(name: str, text: str) -> tuple[str, ...]:
    found = phrase(name).finditer(text)
    return tuple(next(group for group in match.groups() if group is not None) for match in found)
