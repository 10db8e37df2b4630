"""What stands on a subject: of statements that contradict each other or say the same, a brief has one (hot path).

The narrower one: what a project says overrides what holds everywhere. Then the one that the user has pinned, then the
later one. Distilling puts out of force what a project itself has replaced; this is for what it cannot see: a project
and the profile, two languages, two devices that have only just met.
"""

from __future__ import annotations

from catmem.brief.contrary import Sense, contradict, say_the_same
from catmem.brief.earlier import is_past
from catmem.recall.rank import alike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from catmem.index.documents import Record

# A state of the work or a note tells of its day; that a later day was otherwise does not make it false.
_OF_THEIR_DAY = frozenset({"progress", "note", "question"})
# Two that have not even so much of the shorter one's words in common are about two things.
_SHARED = 0.5


class Standing:
    """Of records of memories in force those that stand, whatever order they come in; of others it knows nothing.

    `project` is the one that the brief is for, where others are told too: what they say overrides nothing but their own.
    """

    __slots__ = ("_by_word", "_order", "_project", "_ranks", "_rulers", "_senses")

    def __init__(self, records: Iterable[Record], project: str | None = None) -> None:
        self._project = project
        known = {record["id"]: record for record in records if _is_statement(record)}
        self._order = sorted(known.values(), key=_strength)
        self._ranks = {record["id"]: rank for rank, record in enumerate(self._order)}
        self._senses = [Sense(record["sense"]) for record in self._order]
        self._rulers: dict[int, int] = {}
        self._by_word: dict[str, list[int]] = {}
        for rank, record in enumerate(self._order):
            for word in (*self._senses[rank].topics, record.get("slot", "")):
                self._by_word.setdefault(word, []).append(rank)

    def stands(self, record: Record) -> bool:
        return bool(self.of(record)["id"] == record["id"])

    def of(self, record: Record) -> Record:
        """The record itself, or the stronger one that stands in its place."""
        rank = self._ranks.get(record["id"]) if _is_statement(record) else None
        if rank is None:
            return record
        ruler = self._ruler(rank)
        return record if ruler == rank else self._order[ruler]

    def _ruler(self, rank: int) -> int:
        if rank not in self._rulers:
            rulers = (r for r in self._rivals(rank) if self._rules(r, rank) and self._ruler(r) == r)
            self._rulers[rank] = next(rulers, rank)
        return self._rulers[rank]

    def _rivals(self, rank: int) -> Iterator[int]:
        """The stronger ones that may be about the same, the strongest first."""
        record, words = self._order[rank], self._senses[rank].topics
        shared: dict[int, int] = {}
        for word in words:
            for rival in self._by_word[word]:
                if rival >= rank:
                    break
                shared[rival] = shared.get(rival, 0) + 1
        near = {r for r, count in shared.items() if count >= _SHARED * min(len(words), len(self._senses[r].topics))}
        if slot := record.get("slot"):
            near.update(rival for rival in self._by_word[slot] if rival < rank)
        return (rival for rival in sorted(near) if self._hold_together(self._order[rival], record))

    def _rules(self, rival: int, rank: int) -> bool:
        stronger, weaker = self._order[rival], self._order[rank]
        if "slot" in stronger and stronger["slot"] == weaker.get("slot"):
            return True
        one, other = self._senses[rival], self._senses[rank]
        if say_the_same(one, other) or alike(*(frozenset(each["words"].split()) for each in (stronger, weaker))):
            return True
        return _OF_THEIR_DAY.isdisjoint((stronger["kind"], weaker["kind"])) and contradict(one, other)

    def _hold_together(self, one: Record, other: Record) -> bool:
        """True for what holds in one place: the profile holds in the project of the brief, and in no other."""
        here = all(r["scope"] == "global" or self._project in (None, r["project"]) for r in (one, other))
        return here or bool(one["project"] == other["project"])


def _is_statement(record: Record) -> bool:
    return record["type"] == "memory" and not is_past(record)


def _strength(record: Record) -> tuple[bool, bool, bool, int, str]:
    """Of two the stronger comes first: the narrower, the user's own, the pinned, the later."""
    noted = record.get("by") == "assistant"
    return record["scope"] == "global", noted, not record["pinned"], -max(record["instants"], default=0), record["id"]
