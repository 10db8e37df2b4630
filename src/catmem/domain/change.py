"""One line of a ledger: a change of memory, complete in itself. Its JSON form is in change_record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from catmem.domain.memory import Author, Claim

Op = Literal[
    "distilled", "remember", "edit", "forget", "restore", "pin", "promote", "merge", "retire", "import", "project",
    "dream",
]  # fmt: skip
OPS: tuple[Op, ...] = (
    "distilled", "remember", "edit", "forget", "restore", "pin", "promote", "merge", "retire", "import", "project",
    "dream",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Job:
    """Which messages of which session a distilled line covers, and by which recipe."""

    project: str
    session: str
    first_id: int
    last_id: int
    recipe: str


@dataclass(frozen=True, slots=True)
class Change:
    """A line of `ledger/<device>.jsonl`; `seq` counts from 1 in each device's file.

    job       of a distilled line and of a dream: how far it came; of a forget: the session of which sentences are gone
    claims    what is now said to be so (distilled, remember, edit, restore, promote, merge)
    ids       the memories that a forget, pin or retire is about
    absorbed  the memories that a promote or merge takes into the one of its claim
    hashes    of a forget: the statements that may not come back, as `statement_hash`
    digest    of a distilled session: {"text", "topics": [...], "progress": [...]}
    records   of an import: the entries of the export, as they stood there; of a forget: what the tombstones
              keep, {"id", "project", "scope", "kind", "created_at", "valid_from", "version", "sessions"}
    project   of a project, and of no memory: what is known of one now, {"key", …} as domain/projects reads it
    cursor    of a dream, and of no memory: how far it has read the digests of each device, by their line numbers
    """

    seq: int
    at: str
    device: str
    op: Op
    by: Author
    why: str = ""
    job: Job | None = None
    claims: tuple[Claim, ...] = ()
    ids: tuple[str, ...] = ()
    absorbed: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    base_version: int = 0
    pinned: bool = True
    digest: Mapping[str, Any] | None = None
    records: tuple[Mapping[str, Any], ...] = field(default=())
    project: Mapping[str, str] | None = None
    cursor: Mapping[str, int] | None = None

    def touches(self) -> frozenset[str]:
        """The ids of all memories whose state this line may change."""
        named = {*self.ids, *self.absorbed, *(str(r["id"]) for r in self.records)}
        for claim in self.claims:
            named.add(claim.id)
            named.update(claim.supersedes)
        return frozenset(named)

    def moment(self, claim: Claim | None = None) -> str:
        """When the change, or one claim of it, counts from.

        What was distilled counts from when it was said, but never from after it was written: a stamp from the
        future cannot overtake what the user did since.
        """
        if claim is not None and self.op == "distilled":
            return min(claim.valid_from, self.at)
        return self.at

    def words_said(self, claim: Claim) -> str:
        """When the words of a claim were said. What is restored is as old as its evidence: it says nothing anew."""
        if self.op == "restore":
            return min(self.at, min((e.at for e in claim.evidence), default=self.at))
        return self.moment(claim)

    def moment_of_records(self, id: str) -> str:
        """When an import counts from for one memory: when its latest state began there."""
        said = [str((r["valid_to"] if r["status"] == "forgotten" else r["valid_from"]) or "") for r in self.entries(id)]
        return min(self.at, max(said, default=self.at))

    def entries(self, id: str) -> list[Mapping[str, Any]]:
        """What an import says of one memory, oldest state first."""
        return sorted((r for r in self.records if r["id"] == id), key=lambda r: int(r["version"]))
