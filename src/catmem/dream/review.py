"""What the folding and the dreaming decided without the user, for him to look over: what replaced what, what joined the
profile, what is about to. Read from the memories themselves; what was looked over is noted in `run/reviewed.json`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from typing import Literal

from catmem.domain.hashing import short_hash
from catmem.domain.likeness import likeness, terms, values
from catmem.domain.memory import HARD_KINDS, Memory, Revision
from catmem.domain.state import users_own
from catmem.dream.promote import candidates, groups_alike, sessions_of
from catmem.settings.paths import Paths, write_private

Outcome = Literal["replaced", "kept", "open"]
"""replaced: the later statement won. kept: the user's own word stood against it. open: both are in force."""

# Two statements of one kind that share so much and differ in a number are about one thing; below it lie pairs such as
# the ports of two services. Above it in our own corpus are corrections only.
_ONE_THING = 0.75
# What shares a word with thousands is compared with its nearest neighbours: a command may take a second, not a minute.
_COMPARED = 200


@dataclass(frozen=True, slots=True)
class Stated:
    """One side of a conflict: a state of a memory."""

    memory: Memory
    revision: Revision

    @property
    def sessions(self) -> Set[tuple[str, str]]:
        return {(e.project, e.session) for e in self.revision.evidence}


@dataclass(frozen=True, slots=True)
class Conflict:
    """Statements of different sessions that cannot both hold. Of an open one, `won` is the later one."""

    outcome: Outcome
    won: Stated
    lost: Stated

    @property
    def key(self) -> str:
        return _key(self.outcome, *(f"{side.memory.id} {side.revision.valid_from}" for side in (self.won, self.lost)))


@dataclass(frozen=True, slots=True)
class Promotion:
    """Memories that say one thing: in the profile, or, with fewer sessions than that asks for, on the way to it."""

    memories: tuple[Memory, ...]
    joined: bool

    @property
    def sessions(self) -> int:
        return sessions_of(self.memories)

    @property
    def key(self) -> str:
        return _key("joined" if self.joined else f"near {self.sessions}", self.memories[0].id)


def conflicts(memories: Sequence[Memory]) -> list[Conflict]:
    """Those of `memories` (of all projects, superseded ones too), by when the later side was said."""
    by_id = {memory.id: memory for memory in memories}
    found = [*_decided(memories, by_id), *_open(memories)]
    return sorted(found, key=lambda c: (c.won.revision.valid_from, c.key))


def promotions(memories: Sequence[Memory], threshold: int) -> list[Promotion]:
    """What joined the profile by being said in several sessions, and what is one session short of it."""
    joined = [m for m in memories if m.now.status == "live" and m.now.scope == "global" and m.now.kind == "preference"]
    found = [Promotion((m,), True) for m in joined if not users_own(m.now) and m.now.why]
    live = [memory for memory in memories if memory.now.status == "live"]
    groups = groups_alike(candidates(live))
    found += [Promotion(tuple(group), False) for group in groups if 0 < sessions_of(group) == threshold - 1]
    return sorted(found, key=lambda p: (p.memories[0].updated_at, p.key))


def _decided(memories: Iterable[Memory], by_id: dict[str, Memory]) -> Iterator[Conflict]:
    for memory in memories:
        now = Stated(memory, memory.now)
        if now.revision.status == "forgotten":
            continue
        for revision in memory.revisions[:-1]:
            aside = users_own(now.revision) and revision.valid_from > now.revision.valid_from
            yield from _pair("kept" if aside else "replaced", now, Stated(memory, revision))
        successor = by_id.get(memory.superseded_by)
        if successor is not None and now.revision.why == "replaced":
            yield from _pair("replaced", Stated(successor, successor.now), now)


def _pair(outcome: Outcome, won: Stated, lost: Stated) -> Iterator[Conflict]:
    """Nothing if the user himself decided it, or corrected himself within a session."""
    decided_by_user = outcome == "replaced" and won.revision.by == "user"
    if won.revision.text and lost.revision.text and not decided_by_user and not lost.sessions & won.sessions:
        yield Conflict(outcome, won, lost)


def _open(memories: Iterable[Memory]) -> Iterator[Conflict]:
    """Facts in force, of one project and kind, that are alike but for a number."""
    homes: dict[tuple[str, str, str], list[Memory]] = defaultdict(list)
    for memory in memories:
        now = memory.now
        if now.status == "live" and now.kind in HARD_KINDS and values(now.text):
            # What they share is told by the words beside the numbers; the first two bound whom one is compared with.
            home = "" if now.scope == "global" else memory.project
            for word in sorted(set(terms(now.text)) - values(now.text))[:2]:
                homes[home, now.kind, word].append(memory)
    seen: set[frozenset[str]] = set()
    for group in homes.values():
        for place, one in enumerate(group):
            for other in group[max(0, place - _COMPARED) : place]:
                if one.id == other.id or (pair := frozenset((one.id, other.id))) in seen:
                    continue
                seen.add(pair)
                if _differ_in_a_number(one.now.text, other.now.text):
                    later, earlier = sorted((one, other), key=lambda m: (m.now.valid_from, m.id), reverse=True)
                    yield from _pair("open", Stated(later, later.now), Stated(earlier, earlier.now))


def _differ_in_a_number(one: str, other: str) -> bool:
    a, b = values(one), values(other)
    return bool(a - b) and bool(b - a) and _alike_beside(one, other)


def _alike_beside(one: str, other: str) -> bool:
    """Whether two statements are alike where their numbers are left out."""
    for value in sorted(values(one) | values(other), key=len, reverse=True):
        one, other = one.casefold().replace(value, " "), other.casefold().replace(value, " ")
    return likeness(one, other) >= _ONE_THING


class Reviewed:
    """The keys of what the user has looked over. Lost or damaged, everything is shown once more."""

    def __init__(self, paths: Paths) -> None:
        self._file = paths.run / "reviewed.json"
        self._paths = paths

    def keys(self) -> Set[str]:
        try:
            found = json.loads(self._file.read_bytes())["seen"]
            return {key for key in found if isinstance(key, str)}
        except (OSError, ValueError, KeyError, TypeError):
            return set()

    def note(self, keys: Iterable[str]) -> None:
        """All that there is was looked over: what is no more need not be known. Raises OSError."""
        self._paths.make(self._file.parent)
        write_private(self._file, json.dumps({"seen": sorted(keys)}).encode())


def _key(*parts: str) -> str:
    return short_hash("\x1f".join(parts), 12)
