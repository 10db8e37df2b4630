"""What the fold builds a memory in: its state so far, and the revisions that changes open."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from catmem.domain.change import Change
from catmem.domain.memory import Claim, Evidence, Kind, Memory, Revision, Scope, Status


@dataclass(slots=True)
class State:
    id: str
    project: str = ""
    created_at: str = ""
    updated_at: str = ""
    version: int = 0
    revisions: list[Revision] = field(default_factory=list)
    superseded_by: str = ""
    explicit: bool = False
    absorbed: bool = False
    stone_version: int = 0
    forgotten_at: str = ""
    unheard: Memory | None = None

    def memory(self, moments: int) -> Memory | None:
        """The memory. A tombstone that no forget numbered is beyond the versions that `moments` sayings make."""
        if not self.revisions:
            stone = self.unheard
            return stone and replace(stone, revisions=(replace(stone.now, version=2 * moments + 1),))
        return Memory(
            self.id,
            self.project,
            self.created_at,
            self.updated_at,
            tuple(self.revisions),
            self.superseded_by,
            self.explicit,
        )

    @property
    def now(self) -> Revision | None:
        return self.revisions[-1] if self.revisions else None

    def follow(self, revision: Revision, at: str) -> None:
        """Closes the present revision and opens the next."""
        if self.now and self.now.status == "live":
            self.revisions[-1] = replace(self.now, status="superseded", valid_to=revision.valid_from)
        self.version += 1
        self.revisions.append(replace(revision, version=self.version))
        self.updated_at = max(self.updated_at, at)

    def touch(self) -> None:
        """A new version, which is always that of the present revision."""
        self.version += 1
        self.revisions[-1] = replace(self.revisions[-1], version=self.version)

    def amend(self, at: str, why: str = "", **fields: Any) -> None:
        """The same statement with more evidence, a pin, a wider scope: a new version, not a new revision.

        What changes nothing (a step run twice) is no version either, whatever reason it gives.
        """
        now = self.revisions[-1]
        amended = replace(now, **fields)
        if amended != now:
            self.revisions[-1] = replace(amended, why=why or now.why)
            self.touch()
            self.updated_at = max(self.updated_at, at)


def revision_of(change: Change, claim: Claim, status: Status, pinned: bool) -> Revision:
    """The revision that a claim opens; its version is given where it joins the others."""
    return Revision(
        version=0,
        status=status,
        scope=claim.scope,
        kind=claim.kind,
        subject=claim.subject,
        predicate=claim.predicate,
        object=claim.object,
        text=claim.text,
        tags=claim.tags,
        confidence=claim.confidence,
        pinned=pinned,
        at=change.at,
        by=change.by,
        why=change.why,
        valid_from=claim.valid_from,
        evidence=united((), claim.evidence),
    )


def stone_of(change: Change, scope: Scope, kind: Kind, valid_from: str) -> Revision:
    return Revision(
        version=1,
        status="forgotten",
        scope=scope,
        kind=kind,
        subject="",
        predicate="",
        object="",
        text="",
        tags=(),
        confidence=0.0,
        pinned=False,
        at=change.at,
        by="user",
        why=change.why,
        valid_from=valid_from,
        valid_to=change.at,
    )


def users_own(revision: Revision) -> bool:
    return revision.pinned or revision.by == "user"


RESTORED = "restored by the user"
DONE_WITH = "done with"
"""Why a question or a step of work is no longer in force: the later memory ended it and does not stand in its place."""


def is_restored(revision: Revision) -> bool:
    """True for what the user brought back: it stays as it was then, its scope too, until the user says otherwise."""
    return revision.status == "live" and revision.by == "user" and revision.why == RESTORED


def united(known: tuple[Evidence, ...], more: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
    """Evidence as a set, in the order of the saying; one message is one piece, said when it was first said."""
    by_place: dict[tuple[str, str, int, str], Evidence] = {}
    for e in sorted((*known, *more)):
        by_place.setdefault((e.project, e.session, e.message_id, e.quote), e)
    return tuple(sorted(by_place.values()))
