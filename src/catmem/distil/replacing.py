"""Whether a later statement puts an earlier one out of force, by their words alone."""

from __future__ import annotations

from functools import lru_cache

from catmem.distil.facts import corrects
from catmem.distil.rulebook import phrase
from catmem.distil.slots import fillings
from catmem.domain.likeness import likeness, shared_weight, terms

# Told that something changes, so much likeness is enough to see that it is this.
_LIKE, _LIKE_WEIGHT = 0.4, 1.2
# One name or two Chinese bigrams; of what is said to go, half of the words at least.
_NAMED, _HALF = 1.0, 0.5
# What a change is about stands at the beginning of the earlier statement too: in this share of its words.
_BEGINNING = 0.5


def replaces(later: str, earlier: str, *, told: bool) -> bool:
    """`told`: the later sentence says, by whatever word, that something changed."""
    if corrects(later, earlier) or _names_what_goes(later, earlier):
        return True
    if not told:
        return False
    if likeness(later, earlier) >= _LIKE and shared_weight(later, earlier) >= _LIKE_WEIGHT:
        return True
    return any(told_of(later, earlier) for told_of in (_measured_anew, _numbered_anew, _filled_anew, _about_the_same))


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
        if weights and all(term in beginning for term in weights) and sum(weights.values()) >= _NAMED * 0.6:
            return True
    return False


# Each statement is held against each memory there is.
@lru_cache(maxsize=16384)
def _caught(name: str, text: str) -> tuple[str, ...]:
    found = phrase(name).finditer(text)
    return tuple(next(group for group in match.groups() if group is not None) for match in found)
