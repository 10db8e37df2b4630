"""How the fold takes a line of an import: the memory as it stood there, or one more claim beside what is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from catmem.domain.change import Change
from catmem.domain.change_record import evidence_from_record
from catmem.domain.forgetting import is_wordless
from catmem.domain.memory import Memory, Revision, normal
from catmem.domain.state import State, is_restored, stone_of, united, users_own


def take_import(state: State, change: Change) -> None:
    """Takes the revisions of an exported memory as they stood; beside what is known here it is one more claim."""
    entries = change.entries(state.id)
    told = [entry for entry in entries if not is_wordless(entry)]
    if not told:
        if entries and state.unheard is None:
            last = entries[-1]
            stone = stone_of(change, last["scope"], last["kind"], last["valid_from"] or "")
            state.unheard = Memory(state.id, last["project"], last["created_at"], change.at, (stone,))
        return
    theirs = [_imported(entry) for entry in told]
    if not _tells_all(theirs, state.revisions):
        _merge_entry(state, change, theirs[-1])
        return
    last = told[-1]
    state.project, state.created_at = last["project"], last["created_at"]
    state.updated_at, state.version = last["updated_at"], int(last["version"])
    state.revisions = theirs


def _tells_all(theirs: list[Revision], ours: list[Revision]) -> bool:
    """True if an import says all that is known here: it then stands as it stood there, versions and times too.

    So it is where sessions that came with the import are distilled again.
    """
    said = {normal(revision.text) for revision in theirs}
    evidence = {e for revision in theirs for e in revision.evidence}
    return all(
        not users_own(revision) and normal(revision.text) in said and set(revision.evidence) <= evidence
        for revision in ours
    )


def _merge_entry(state: State, change: Change, theirs: Revision) -> None:
    ours = state.revisions[-1]
    if theirs.status == "forgotten":
        if not users_own(ours):
            state.version = max(state.version + 1, theirs.version)
            state.revisions = [replace(theirs, version=state.version)]
            state.updated_at, state.superseded_by = max(state.updated_at, change.at), ""
    elif ours.status == "live" and normal(theirs.text) == normal(ours.text):
        evidence = united(ours.evidence, theirs.evidence)
        why = "" if is_restored(ours) else "imported"
        state.amend(change.at, why, evidence=evidence, pinned=ours.pinned or theirs.pinned)
    elif theirs.status == "live" and not users_own(ours) and theirs.valid_from >= ours.valid_from:
        state.follow(theirs, change.at)
        state.superseded_by, state.absorbed = "", False


def _imported(record: Mapping[str, Any]) -> Revision:
    return Revision(
        version=int(record["version"]),
        status=record["status"],
        scope=record["scope"],
        kind=record["kind"],
        subject=record["subject"],
        predicate=record["predicate"],
        object=record["object"],
        text=record["text"],
        tags=tuple(record["tags"]),
        confidence=float(record["confidence"]),
        pinned=bool(record["pinned"]),
        at=str(record["updated_at"]),
        by="user" if record["pinned"] else "import",
        why="imported",
        valid_from=str(record["valid_from"] or ""),
        valid_to=str(record["valid_to"] or ""),
        evidence=tuple(evidence_from_record(e) for e in record["evidence"]),
    )
