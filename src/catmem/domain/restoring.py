"""The way back: which earlier state of a memory comes into force again, and what goes out of force for it (pure)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from catmem.domain.change import Change
from catmem.domain.errors import BadInput, NotFound
from catmem.domain.fold import fold
from catmem.domain.history import Find, in_force, says_other, took_its_place
from catmem.domain.memory import Claim, Memory, Revision
from catmem.domain.state import RESTORED, is_restored


@dataclass(frozen=True, slots=True)
class Restoring:
    """What a restore does.

    back  memories with the statement that each of them makes again; the one that was asked for is the first
    out   memories in force that stand in its place and give way
    """

    back: tuple[tuple[Memory, Revision], ...]
    out: tuple[Memory, ...] = ()

    @property
    def versions(self) -> dict[str, int]:
        """The version of every memory that it is about, as it was seen."""
        return {memory.id: memory.version for memory in (*(memory for memory, _ in self.back), *self.out)}

    def change(self, at: str) -> Change:
        """The line of the ledger, by the user: from then on it is his word."""
        given_way = tuple(memory.id for memory in self.out)
        claims = [_claim(memory, said, at, () if number else given_way)
                  for number, (memory, said) in enumerate(self.back)]  # fmt: skip
        return Change(0, at, "", "restore", "user", why=RESTORED, claims=tuple(claims))


def restoring(
    memory: Memory, lines: Sequence[Change], forgotten: Set[str], find: Find, *, version: int = 0, beside: bool = False
) -> Restoring | None:
    """The way back to revision `version` of a memory, or for 0 to what it said last before it was changed.

    None if it says so already. `lines` are all that touch it, in the order of their writing; `beside` leaves what
    stands in its place in force. Raises BadInput for a forgotten memory, NotFound where there is nothing to go back to.
    """
    if memory.now.status == "forgotten":
        raise BadInput(
            f"{memory.id} is forgotten, and its words are gone; say it anew: `mem recall --save TEXT`",
            f"{memory.id} 已忘记，内容不再保留，无法恢复；请重新说一遍：`mem recall --save 文本`",
        )
    said = _revision(memory, version) if version else _before_it_changed(memory, lines, forgotten)
    now = in_force(memory)
    if said is None or (now and not says_other(now, said)):
        return None
    back = [(memory, said)]
    if now and now.scope == "global" and said.scope == "project":
        back += [(other, other.now) for other in _taken_in(memory, lines, find)]
    out = () if now or beside else _in_its_place(memory, lines, find)
    return Restoring(tuple(back), out)


def _revision(memory: Memory, version: int) -> Revision:
    for revision in memory.revisions:
        if revision.version == version:
            return revision
    known = [f"v{revision.version}" for revision in memory.revisions]
    raise NotFound(
        f"{memory.id} has no revision {version}, only {', '.join(known)}; `mem show {memory.id}` shows them",
        f"{memory.id} 没有第 {version} 版，只有 {'、'.join(known)}；用 `mem show {memory.id}` 查看",
    )


def _before_it_changed(memory: Memory, lines: Sequence[Change], forgotten: Set[str]) -> Revision | None:
    """The last other statement that was in force; None where the user has brought one back already."""
    now = in_force(memory)
    if now and is_restored(now):
        return None
    for count in range(len(lines) - 1, 0, -1):
        before = in_force(fold(memory.id, lines[:count], forgotten))
        if before and before.text and (now is None or says_other(before, now)):
            return before
    # What came with an import has its history in one line.
    earlier = [r for r in memory.revisions if r.text and (now is None or says_other(r, now))]
    if earlier:
        return earlier[-1]
    raise NotFound(
        f"{memory.id} never said anything else; `mem forget {memory.id}` removes it",
        f"{memory.id} 没有更早的说法；如不需要，可用 `mem forget {memory.id}` 删除",
    )


def _in_its_place(memory: Memory, lines: Sequence[Change], find: Find) -> tuple[Memory, ...]:
    """The memory in force at the end of the chain of those that replaced one another, if there is one."""
    seen, id = {memory.id}, took_its_place(memory, lines)
    while id and id not in seen and (successor := find(id)) is not None:
        if successor.now.status == "live":
            return (successor,)
        seen.add(id)
        id = took_its_place(successor, ())
    return ()


def _taken_in(memory: Memory, lines: Sequence[Change], find: Find) -> list[Memory]:
    """What a promotion of a memory took in from other projects: without the promotion it holds there again."""
    promotions = [line for line in lines if line.op == "promote" and any(c.id == memory.id for c in line.claims)]
    ids = sorted({id for line in promotions for id in line.absorbed if id != memory.id})
    found = [other for id in ids if (other := find(id)) is not None]
    return [other for other in found if other.superseded_by == memory.id and other.now.status == "superseded"]


def _claim(memory: Memory, said: Revision, at: str, supersedes: tuple[str, ...]) -> Claim:
    return Claim(
        id=memory.id,
        scope=said.scope,
        project=memory.project,
        kind=said.kind,
        subject=said.subject,
        predicate=said.predicate,
        object=said.object,
        text=said.text,
        valid_from=at,
        confidence=1.0,
        tags=said.tags,
        evidence=said.evidence,
        supersedes=supersedes,
    )
