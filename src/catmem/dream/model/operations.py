"""What may come of a model's answer: each operation is checked against the memories themselves (pure).

The model only points. No word of it becomes a memory, a user's own word is never touched, and what differs in a number
or a name is not the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from catmem.domain.change import Change
from catmem.domain.likeness import likeness, terms, values
from catmem.domain.memory import Memory
from catmem.domain.state import DONE_WITH, is_restored
from catmem.dream.model.material import Material
from catmem.dream.model.translation import contradict, names_in_order, say_the_same
from catmem.dream.promote import promotion, sessions_of

# Of two statements in one language that are called the same: below it they share no more than a subject. Pairs of
# paraphrases in our own corpus lie above .3, pairs of different statements on one subject mostly below.
SAME = 0.3
# What replaces another speaks of the same thing: one word of it at least.
RELATED = 0.12


@dataclass(frozen=True, slots=True)
class Operation:
    """Something to be done: `change` is its line for the ledger, `loses` how many memories go out of force by it."""

    name: str
    change: Change
    touched: tuple[Memory, ...]
    loses: int


@dataclass(frozen=True, slots=True)
class Refused:
    name: str
    numbers: tuple[int, ...]
    why: str


def operations_of(
    answer: Mapping[str, Any], material: Material, present: Mapping[str, Memory], *, threshold: int, may_lose: int
) -> tuple[list[Operation], list[Refused]]:
    """The operations of an answer that hold, and what was refused and why.

    present    the memories as they stand now; what has moved on since the model looked is left alone
    threshold  sessions that must say a preference before it joins the profile
    may_lose   most memories that may go out of force
    """
    kept: list[Operation] = []
    refused: list[Refused] = []
    taken: set[str] = set()
    for name, numbers in _asked(answer):
        group, why = _group(numbers, material, present, taken)
        operation: Operation | str = why
        if not why:
            operation = _MAKERS[name](group, threshold)
        if isinstance(operation, str):
            refused.append(Refused(name, numbers, operation))
        elif sum(o.loses for o in kept) + operation.loses > may_lose:
            refused.append(Refused(name, numbers, "too much for one run"))
        else:
            kept.append(operation)
            taken.update(memory.id for memory in operation.touched)
    return kept, refused


def _asked(answer: Mapping[str, Any]) -> Iterable[tuple[str, tuple[int, ...]]]:
    for group in _lists(answer.get("merge")):
        yield "merge", _numbers(group.get("same"))
    for pair in _lists(answer.get("replace")):
        yield "replace", _numbers([pair.get("old"), pair.get("new")])
    for one in _lists(answer.get("retire")):
        yield "retire", _numbers([one.get("old"), one.get("because")])
    for one in _lists(answer.get("promote")):
        yield "promote", _numbers([one.get("memory")])


def _lists(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _numbers(value: Any) -> tuple[int, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(dict.fromkeys(n for n in value if isinstance(n, int) and not isinstance(n, bool)))


def _group(
    numbers: Sequence[int], material: Material, present: Mapping[str, Memory], taken: set[str]
) -> tuple[list[Memory], str]:
    if not numbers:
        return [], "names nothing"
    group = []
    for number in numbers:
        if not 1 <= number <= len(material.memories):
            return [], "names a number that is not there"
        seen = material.memories[number - 1]
        memory = present.get(seen.id)
        if memory is None or memory.version != seen.version or memory.now.status != "live":
            return [], "has changed meanwhile"
        if memory.id in taken:
            return [], "is part of another operation"
        group.append(memory)
    return group, ""


def _merged(group: Sequence[Memory], threshold: int) -> Operation | str:
    """The eldest stands, the others are absorbed by it. A preference that enough sessions said joins the profile."""
    if len(group) < 2:
        return "names only one"
    group = sorted(group, key=lambda m: (not _is_users(m), m.created_at, m.id))
    kept = group[0]
    if any(_is_users(memory) for memory in group[1:]):
        return "would absorb the user's own word"
    if len({memory.now.kind for memory in group}) > 1:
        return "are of different kinds"
    if any(not _same(kept, other) for other in group[1:]):
        return "do not say the same"
    homes = {memory.now.scope if memory.now.scope == "global" else memory.project for memory in group}
    change = promotion(group)
    if len(homes) > 1 and not (kept.now.kind == "preference" and sessions_of(group) >= threshold):
        return "belong to different projects"
    if len(homes) == 1:
        claim = replace(change.claims[0], scope=kept.now.scope)
        change = replace(change, op="merge", why="say the same", claims=(claim,))
    return Operation("merge", change, tuple(group), len(group) - 1)


def _replaced(group: Sequence[Memory], threshold: int) -> Operation | str:
    if len(group) != 2:
        return "names not two"
    old, new = group
    if _is_users(old):
        return "would replace the user's own word"
    if new.now.valid_from <= old.now.valid_from:
        return "is not later than what it replaces"
    if old.now.kind != new.now.kind or _home(old) != _home(new):
        return "are of different kinds or projects"
    if likeness(old.now.text, new.now.text) < RELATED:
        return "speak of different things"
    return Operation("replace", _ending(old, new, "replaced"), (old, new), 1)


def _retired(group: Sequence[Memory], threshold: int) -> Operation | str:
    """What a later memory ended: a question that was decided, a step that was done."""
    if len(group) != 2:
        return "names no reason"
    old, because = group
    if _is_users(old):
        return "would retire the user's own word"
    if old.now.kind not in ("question", "progress", "note"):
        return "is not of a kind that ends by itself"
    if because.now.valid_from <= old.now.valid_from or _home(old) != _home(because):
        return "is not ended by a later one"
    if likeness(old.now.text, because.now.text) < RELATED:
        return "speak of different things"
    return Operation("retire", _ending(old, because, DONE_WITH), (old, because), 1)


def _ending(old: Memory, by: Memory, why: str) -> Change:
    """The line that puts one memory out of force by another, which stays as it is."""
    change = promotion([by])
    claim = replace(change.claims[0], scope=by.now.scope, supersedes=(old.id,))
    return replace(change, op="merge", why=why, claims=(claim,))


def _promoted(group: Sequence[Memory], threshold: int) -> Operation | str:
    memory = group[0]
    if memory.now.scope == "global":
        return "is in the profile already"
    if is_restored(memory.now):
        return "was brought back by the user"
    if memory.now.kind != "preference" or (sessions_of(group) < threshold and not memory.explicit):
        return "was not said in enough sessions"
    return Operation("promote", promotion(group), (memory,), 0)


_MAKERS = {"merge": _merged, "replace": _replaced, "retire": _retired, "promote": _promoted}


def _same(one: Memory, other: Memory) -> bool:
    """True if two statements may be one: like in one language, or in two with the same names and numbers, or with
    nothing in either that the tables of words do not know in the other."""
    a, b = one.now.text, other.now.text
    if values(a) != values(b) or contradict(a, b):
        return False
    if _is_chinese(a) == _is_chinese(b):
        return likeness(a, b) >= SAME
    chinese, english = (a, b) if _is_chinese(a) else (b, a)
    names, words = _latin(chinese), _latin(english)
    if names and names <= words and {word for word in words if not word.isalpha()} <= names:
        return names_in_order(chinese, english)
    return say_the_same(chinese, english)


def _latin(text: str) -> frozenset[str]:
    return frozenset(term for term in terms(text) if term.isascii())


def _is_chinese(text: str) -> bool:
    return any("\u3400" <= character <= "\u9fff" for character in text)


def _is_users(memory: Memory) -> bool:
    return memory.now.pinned or memory.now.by == "user"


def _home(memory: Memory) -> str:
    return "" if memory.now.scope == "global" else memory.project
