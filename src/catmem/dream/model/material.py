"""What a dream looks at: the digests that no dream has read yet, and the memories in force, each with a number."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catmem.domain.hashing import short_hash
from catmem.domain.likeness import likeness
from catmem.domain.memory import Memory
from catmem.store.memories import MemoryStore
from catmem.text.cut import estimate_tokens

# Of the memories, in tokens: with the instruction and the digests a dream stays below 5,000, which the smallest
# context windows in use (8,192) hold together with the answer.
MEMORY_TOKENS = 3000
DIGEST_TOKENS = 1500
# A statement is a sentence; the rest of a longer one does not change what it is about.
LONGEST = 300


@dataclass(frozen=True, slots=True)
class Digest:
    """What a session left: `place` is its ledger line, a device and a number."""

    session: str
    at: str
    text: str
    place: tuple[str, int]


@dataclass(frozen=True, slots=True)
class Material:
    """`project` is "" for the profile; `cursor` is how far the digests of each device are read after this dream.

    `more` says that digests are left for the next one.
    """

    project: str
    digests: tuple[Digest, ...]
    memories: tuple[Memory, ...]
    cursor: Mapping[str, int]
    more: bool = False

    @property
    def key(self) -> str:
        """The same for the same material: what was answered about it need not be asked again."""
        told = [self.project, [d.place for d in self.digests], [(m.id, m.version) for m in self.memories]]
        return short_hash(json.dumps(told), 12)


def material_of(store: MemoryStore, project: str, cursor: Mapping[str, int], entries: int) -> Material:
    """What the next dream of a project looks at: at most `entries` digests, the oldest first.

    Of the memories as many as have room: those that are like another or like a digest first, then the newest.
    """
    rows = store.digests_after(project, cursor, entries + 1) if project else []
    digests: list[Digest] = []
    used = 0
    moved = dict(cursor)
    for row in rows[:entries]:
        text = _digest_text(row)
        used += estimate_tokens(text)
        if digests and used > DIGEST_TOKENS:
            break
        moved[row["device"]] = max(moved.get(row["device"], 0), row["seq"])
        if text:
            digests.append(Digest(row["session"], row["at"], text, (row["device"], row["seq"])))
    read = sum(1 for row in rows if row["seq"] <= moved.get(row["device"], 0))
    memories = _chosen(_memories(store, project), [digest.text for digest in digests])
    return Material(project, tuple(digests), memories, moved, more=read < len(rows))


def _memories(store: MemoryStore, project: str) -> Sequence[Memory]:
    if project:
        return store.live(project, with_global=False)
    # What several projects know of the user is the profile's to be.
    return [m for m in store.live() if m.now.scope == "global" or m.now.kind == "preference"]


def _chosen(memories: Sequence[Memory], digests: Sequence[str]) -> tuple[Memory, ...]:
    needed = sorted(memories, key=lambda m: (-_kinship(m, memories, digests), m.updated_at), reverse=False)
    chosen, used = [], 0
    for memory in needed:
        used += estimate_tokens(shown(memory))
        if used > MEMORY_TOKENS:
            break
        chosen.append(memory)
    return tuple(sorted(chosen, key=lambda m: (m.created_at, m.id)))


def _kinship(memory: Memory, memories: Sequence[Memory], digests: Sequence[str]) -> float:
    """How like something else that is looked at. Of very many memories only the neighbours in time are compared."""
    place = memories.index(memory)
    near = [m.now.text for m in memories[max(0, place - 100) : place + 100] if m.id != memory.id]
    return max((likeness(memory.now.text, text) for text in [*near, *digests]), default=0.0)


def shown(memory: Memory) -> str:
    """A memory as a dream reads it: `[decision] 2026-03-01 We moved to uv`."""
    return f"[{memory.now.kind}] {memory.now.valid_from[:10]} {' '.join(memory.now.text.split())[:LONGEST]}"


def _digest_text(row: Mapping[str, Any]) -> str:
    parts = [str(row.get("text") or "")]
    parts += [str(step) for step in row.get("progress") or () if isinstance(step, str)]
    return " · ".join(dict.fromkeys(" ".join(part.split())[:LONGEST] for part in parts if part.strip()))
