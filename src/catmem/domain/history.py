"""What changed: the state of a memory before and after some lines, told as one difference (pure).

The fold orders statements by when they were said; a history is told in the order of writing, as the user met it. So a
state of the past is the fold of the lines that had been written by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Literal

from catmem.domain.change import Change
from catmem.domain.fold import fold
from catmem.domain.memory import Memory, Revision
from catmem.domain.state import DONE_WITH, is_restored

What = Literal["added", "replaced", "merged", "retired", "returned", "promoted", "restored", "forgotten"]
Find = Callable[[str], Memory | None]
"""The present state of a memory by its id."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What became of one memory.

    old   what was in force before, None if nothing was (or its words are forgotten)
    new   what is said in its place: by the memory itself, or by the one named `by_id` that replaced it or took it in
    line  the last line that had a part in it
    """

    what: What
    id: str
    project: str
    old: Revision | None
    new: Revision | None
    line: Change
    by_id: str = ""


def steps(id: str, lines: Sequence[Change], forgotten: Set[str], find: Find, first: int = 0) -> Iterator[Difference]:
    """What each of `lines` from the number `first` on did to a memory, in their order; nothing for mere evidence.

    `lines` are all that touch it, in the order of their writing; `forgotten` as for `fold`.
    """
    before = fold(id, lines[:first], forgotten)
    for number in range(first, len(lines)):
        after = fold(id, lines[: number + 1], forgotten)
        found = _difference(before, after, lines[number], find)
        if found:
            yield found
        before = after


def difference(id: str, lines: Sequence[Change], forgotten: Set[str], find: Find, first: int) -> Difference | None:
    """What the lines from the number `first` on did to a memory together; None if it is as it was."""
    told = list(steps(id, lines, forgotten, find, first))
    if not told or told[-1].what == "forgotten":
        return told[-1] if told else None
    line = told[-1].line
    found = _difference(fold(id, lines[:first], forgotten), fold(id, lines, forgotten), line, find)
    return found and replace(found, line=line)


def in_force(memory: Memory | None) -> Revision | None:
    return memory.now if memory and memory.now.status == "live" else None


def says_other(one: Revision, other: Revision) -> bool:
    """Whether two revisions differ in what they say or where it holds; evidence, tags and pins aside."""
    return (one.text, one.object, one.kind, one.scope) != (other.text, other.object, other.kind, other.scope)


def took_its_place(memory: Memory, lines: Sequence[Change]) -> str:
    """The id of the memory that stands in the place of one that is out of force; "" if none does.

    What took it in says the same, and what it was done with for says something else.
    """
    taken_in = any(memory.id in line.absorbed and _is_of(memory.superseded_by, line) for line in lines)
    return "" if taken_in or memory.now.why == DONE_WITH else memory.superseded_by


def _difference(before: Memory | None, after: Memory | None, line: Change, find: Find) -> Difference | None:
    if after is None:
        return None

    def told(what: What, new: Revision | None = None, by_id: str = "") -> Difference:
        return Difference(what, after.id, after.project, old, new, line, by_id)

    old, new = in_force(before), in_force(after)
    if after.now.status == "forgotten":
        old = None
        return told("forgotten") if line.op == "forget" else None
    if new is None:
        return _gone(after, line, find, told) if old else None
    if old and not says_other(old, new):
        return None
    if before is not None and is_restored(new) and not (old and is_restored(old)):
        return told("restored", new)
    if old is None:
        known = before is not None and before.now.status == "superseded"
        return told("returned" if known else "added", new)
    return told("promoted" if _only_rose(old, new) else "replaced", new)


def _gone(after: Memory, line: Change, find: Find, told: Callable[..., Difference]) -> Difference:
    other = find(after.superseded_by) if after.superseded_by else None
    # It may have been replaced itself since; if it was forgotten, there are no words to show.
    successor = other.now if other and other.now.text else None
    if after.id in line.absorbed:
        return told("merged", successor, after.superseded_by)
    if took_its_place(after, [line]):
        return told("replaced", successor, after.superseded_by)
    return told("retired")


def _only_rose(old: Revision, new: Revision) -> bool:
    return new.scope == "global" and not says_other(replace(old, scope="global"), new)


def _is_of(id: str, line: Change) -> bool:
    return any(claim.id == id for claim in line.claims)
