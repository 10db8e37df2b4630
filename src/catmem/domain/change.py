"""One line of a ledger: a change of memory, complete in itself, and its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from catmem.domain.errors import DataDamaged
from catmem.domain.memory import Author, Claim, Evidence

Op = Literal["distilled", "remember", "edit", "forget", "restore", "pin", "promote", "merge", "retire", "import"]
OPS: tuple[Op, ...] = (
    "distilled", "remember", "edit", "forget", "restore", "pin", "promote", "merge", "retire", "import",
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

    claims    what is now said to be so (distilled, remember, edit, restore, promote, merge)
    ids       the memories that a forget, pin or retire is about
    absorbed  the memories that a promote or merge takes into the one of its claim
    hashes    of a forget: the statements that may not come back, as `statement_hash`
    digest    of a distilled session: {"text", "topics": [...], "progress": [...]}
    records   of an import: the memories of the export, as they stood there
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

    def touches(self) -> frozenset[str]:
        """The ids of all memories whose state this line may change."""
        named = {*self.ids, *self.absorbed, *(str(r["id"]) for r in self.records)}
        for claim in self.claims:
            named.add(claim.id)
            named.update(claim.supersedes)
        return frozenset(named)


def change_to_record(change: Change) -> dict[str, Any]:
    """The JSON object of a line. Empty fields are left out, so that a line reads as what it says."""
    record: dict[str, Any] = {
        "seq": change.seq,
        "at": change.at,
        "device": change.device,
        "op": change.op,
        "by": change.by,
    }
    if change.job:
        record["job"] = {
            "project": change.job.project,
            "session": change.job.session,
            "first_id": change.job.first_id,
            "last_id": change.job.last_id,
            "recipe": change.job.recipe,
        }
    if change.claims:
        record["claims"] = [_claim_to_record(claim) for claim in change.claims]
    for name in ("why", "ids", "absorbed", "hashes", "base_version", "records"):
        value = getattr(change, name)
        if value:
            record[name] = list(value) if isinstance(value, tuple) else value
    if change.op == "pin":
        record["pinned"] = change.pinned
    if change.digest is not None:
        record["digest"] = dict(change.digest)
    return record


def change_from_record(record: Mapping[str, Any]) -> Change:
    """The change of a JSON object. Raises DataDamaged if it is not one of ours; unknown fields are ignored."""
    try:
        if record["op"] not in OPS:
            raise ValueError(f"unknown op {record['op']!r}")
        job = record.get("job")
        return Change(
            seq=int(record["seq"]),
            at=str(record["at"]),
            device=str(record["device"]),
            op=record["op"],
            by=record["by"],
            why=record.get("why", ""),
            job=job and Job(job["project"], job["session"], int(job["first_id"]), int(job["last_id"]), job["recipe"]),
            claims=tuple(_claim_from_record(c) for c in record.get("claims", ())),
            ids=tuple(record.get("ids", ())),
            absorbed=tuple(record.get("absorbed", ())),
            hashes=tuple(record.get("hashes", ())),
            base_version=int(record.get("base_version", 0)),
            pinned=bool(record.get("pinned", True)),
            digest=record.get("digest"),
            records=tuple(record.get("records", ())),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataDamaged(f"not a ledger line: {error}") from error


def _claim_to_record(claim: Claim) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": claim.id,
        "scope": claim.scope,
        "project": claim.project,
        "kind": claim.kind,
        "subject": claim.subject,
        "predicate": claim.predicate,
        "object": claim.object,
        "text": claim.text,
        "valid_from": claim.valid_from,
        "confidence": claim.confidence,
    }
    if claim.tags:
        record["tags"] = list(claim.tags)
    if claim.evidence:
        record["evidence"] = [evidence_to_record(e) for e in claim.evidence]
    if claim.supersedes:
        record["supersedes"] = list(claim.supersedes)
    if claim.explicit:
        record["explicit"] = True
    return record


def _claim_from_record(record: Mapping[str, Any]) -> Claim:
    return Claim(
        id=record["id"],
        scope=record["scope"],
        project=record["project"],
        kind=record["kind"],
        subject=record["subject"],
        predicate=record["predicate"],
        object=record["object"],
        text=record["text"],
        valid_from=record["valid_from"],
        confidence=float(record["confidence"]),
        tags=tuple(record.get("tags", ())),
        evidence=tuple(evidence_from_record(e) for e in record.get("evidence", ())),
        supersedes=tuple(record.get("supersedes", ())),
        explicit=bool(record.get("explicit", False)),
    )


def evidence_to_record(evidence: Evidence) -> dict[str, Any]:
    return {
        "session": evidence.session,
        "project": evidence.project,
        "message_id": evidence.message_id,
        "quote": evidence.quote,
        "at": evidence.at,
    }


def evidence_from_record(record: Mapping[str, Any]) -> Evidence:
    return Evidence(
        at=record["at"],
        project=record.get("project", ""),
        session=record["session"],
        message_id=int(record["message_id"]),
        quote=record["quote"],
    )
