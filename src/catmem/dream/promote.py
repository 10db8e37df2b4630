"""What a user said alike in several sessions is no longer about one project: it joins the profile."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from catmem.domain.change import Change
from catmem.domain.likeness import same_taste
from catmem.domain.memory import Claim, Memory
from catmem.domain.state import is_restored
from catmem.store.memories import MemoryStore


def promote(store: MemoryStore, threshold: int) -> int:
    """Moves preferences that `threshold` distinct sessions confirm to the profile. Returns how many.

    The same preference learnt in two projects counts together: one of them becomes the profile's, the others are
    absorbed by it. Run twice, it changes nothing.
    """
    promoted = 0

    def proposed() -> tuple[list[Change], dict[str, int]]:
        nonlocal promoted
        changes, seen = [], {}
        for group in groups_alike(candidates(store.live())):
            if sessions_of(group) >= threshold or any(m.explicit for m in group):
                changes.append(promotion(group))
                seen.update({memory.id: memory.version for memory in group})
        promoted = len(changes)
        return changes, seen

    store.commit_retrying(proposed)
    return promoted


def candidates(memories: Iterable[Memory]) -> list[Memory]:
    """The preferences that may yet join the profile; what the user brought back stays where it was."""
    own = [m for m in memories if m.now.kind == "preference" and m.now.scope == "project"]
    return [m for m in own if not m.now.pinned and not is_restored(m.now)]


def groups_alike(memories: Iterable[Memory]) -> list[list[Memory]]:
    """Memories that say the same, together; the eldest of each group first."""
    groups: list[list[Memory]] = []
    for memory in sorted(memories, key=lambda m: (m.created_at, m.id)):
        for group in groups:
            if group[0].id == memory.id or same_taste(group[0].now.text, memory.now.text):
                group.append(memory)
                break
        else:
            groups.append([memory])
    return groups


def sessions_of(group: Sequence[Memory]) -> int:
    """How many distinct sessions stand behind a group."""
    return len({(e.project, e.session) for memory in group for e in memory.now.evidence})


def promotion(group: Sequence[Memory]) -> Change:
    """The line that makes the eldest of a group global and lets it absorb the others."""
    kept = group[0]
    now = kept.now
    evidence = tuple(sorted({e for memory in group for e in memory.now.evidence}))
    claim = Claim(
        id=kept.id,
        scope="global",
        project=kept.project,
        kind=now.kind,
        subject=now.subject,
        predicate=now.predicate,
        object=now.object,
        text=now.text,
        valid_from=now.valid_from,
        confidence=max(memory.now.confidence for memory in group),
        tags=now.tags,
        evidence=evidence,
    )
    why = f"said in {sessions_of(group)} sessions"
    absorbed = tuple(memory.id for memory in group[1:])
    return Change(0, "", "", "promote", "dream", why=why, claims=(claim,), absorbed=absorbed)
