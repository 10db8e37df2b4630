"""Forgetting: which words may no longer stand in any line, while what the lines did to other memories stays done.

Words go by two rules. By id: whatever was said of a memory before its last forget. By statement: what a job says in
words that were forgotten under any id. A user's own later word is never taken away by a statement forgotten before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

from catmem.domain.change import Change
from catmem.domain.memory import Claim, Evidence, Memory, statement_hash

Place = tuple[str, str, int]
"""Where a line stands among all lines: time of writing, device, number."""


@dataclass(frozen=True, slots=True)
class Tombstones:
    """What all forgets together say.

    hashes    statements that no job may bring back
    last      memory id -> its last forget
    sessions  (project, session) that a forgotten memory or sentence came from -> its last forget
    """

    hashes: frozenset[str] = frozenset()
    last: Mapping[str, Place] = field(default_factory=dict)
    sessions: Mapping[tuple[str, str], Place] = field(default_factory=dict)


def place_of(change: Change) -> Place:
    return change.at, change.device, change.seq


def tombstones_of(changes: Iterable[Change]) -> Tombstones:
    """The tombstones of those changes that are forgets."""
    hashes, last, sessions = set[str](), dict[str, Place](), dict[tuple[str, str], Place]()
    for change in changes:
        if change.op != "forget":
            continue
        place = place_of(change)
        hashes.update(change.hashes)
        for id in change.ids:
            last[id] = max(place, last.get(id, place))
        for source in sources_of(change):
            sessions[source] = max(place, sessions.get(source, place))
    return Tombstones(frozenset(hashes), last, sessions)


def sources_of(change: Change) -> set[tuple[str, str]]:
    """(project, session) of all that a forget is about: of its memories, and of sentences that never became one."""
    found = {(str(project), str(key)) for record in change.records for project, key in record.get("sessions", ())}
    return found | ({(change.job.project, change.job.session)} if change.job else set())


def stone_record(memory: Memory) -> dict[str, Any]:
    """What a forget keeps of a memory: nothing that was said, only what it was and where it came from."""
    now = memory.now
    sessions = {(e.project, e.session) for revision in memory.revisions for e in revision.evidence}
    return {
        "id": memory.id,
        "project": memory.project,
        "scope": now.scope,
        "kind": now.kind,
        "created_at": memory.created_at,
        "valid_from": now.valid_from,
        "version": memory.version + 1,
        "sessions": [list(session) for session in sorted(sessions)],
    }


def heard(change: Change, hashes: Set[str]) -> Change:
    """A line as the fold hears it: without what it says again of forgotten statements."""
    if not hashes or change.op == "forget":
        return change
    return _edited(
        change,
        tuple(_heard_claim(claim, change, hashes) for claim in change.claims),
        tuple(_heard_entry(entry, hashes) for entry in change.records),
    )


def without_words(change: Change, tombstones: Tombstones) -> Change:
    """A line as it may be kept: every word gone that a tombstone forbids. The fold makes the same of both.

    A digest goes with them, since it may tell the same in other words; it can be made again from the session.
    """
    if change.op == "forget":
        return change
    kept = heard(change, tombstones.hashes)
    kept = _edited(
        kept,
        tuple(wordless(c) if _came_before(kept, kept.words_said(c), c.id, tombstones) else c for c in kept.claims),
        tuple(
            _wordless_entry(r) if _came_before(kept, kept.moment_of_records(r["id"]), r["id"], tombstones) else r
            for r in kept.records
        ),
    )
    job = change.job
    if kept.digest is not None and job is not None:
        place = tombstones.sessions.get((job.project, job.session))
        if kept is not change or (place is not None and place_of(change) < place):
            return replace(kept, digest=None)
    return kept


def is_wordless(entry: Mapping[str, Any]) -> bool:
    """True for an entry of an import whose words were taken away."""
    return not entry["text"] and entry["status"] != "forgotten"


def _came_before(change: Change, moment: str, id: str, tombstones: Tombstones) -> bool:
    place = tombstones.last.get(id)
    return place is not None and (moment, *place_of(change)) < (place[0], *place)


def _edited(change: Change, claims: tuple[Claim, ...], records: tuple[Mapping[str, Any], ...]) -> Change:
    """The same object if nothing was edited, so that a caller can tell."""
    if claims == change.claims and records == change.records:
        return change
    return replace(change, claims=claims, records=records)


def _heard_claim(claim: Claim, change: Change, hashes: Set[str]) -> Claim:
    if statement_hash(claim.text) in hashes:
        return claim if change.by == "user" else wordless(claim)
    if any(statement_hash(e.quote) in hashes for e in claim.evidence):
        return replace(claim, evidence=tuple(_heard_evidence(e, hashes) for e in claim.evidence))
    return claim


def _heard_evidence(evidence: Evidence, hashes: Set[str]) -> Evidence:
    return replace(evidence, quote="") if statement_hash(evidence.quote) in hashes else evidence


def _heard_entry(entry: Mapping[str, Any], hashes: Set[str]) -> Mapping[str, Any]:
    if entry["text"] and statement_hash(entry["text"]) in hashes:
        return _wordless_entry(entry)
    if any(statement_hash(e["quote"]) in hashes for e in entry["evidence"]):
        evidence = [{**e, "quote": ""} if statement_hash(e["quote"]) in hashes else e for e in entry["evidence"]]
        return {**entry, "evidence": evidence}
    return entry


def wordless(claim: Claim) -> Claim:
    """What is left of a claim: which memory it was about, and which others it put out of force."""
    return replace(claim, subject="", predicate="", object="", text="", tags=(), evidence=())


def _wordless_entry(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**entry, "subject": "", "predicate": "", "object": "", "text": "", "tags": [], "evidence": []}
