"""How the fold takes a line of an import: the memory as it stood there, or one more claim beside what is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from catmem.domain.change import Change, evidence_from_record
from catmem.domain.forgetting import is_wordless
from catmem.domain.memory import Memory, Revision, normal
from catmem.domain.state import State, stone_of, united, users_own


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
    if state.revisions:
        _merge_entry(state, change, _imported(told[-1]))
        return
    for entry in told:
        state.project, state.created_at = entry["project"], entry["created_at"]
        state.updated_at, state.version = entry["updated_at"], int(entry["version"])
        state.revisions.append(_imported(entry))


def _merge_entry(state: State, change: Change, theirs: Revision) -> None:
    ours = state.revisions[-1]
    if theirs.status == "forgotten":
        if not users_own(ours):
            state.version = max(state.version + 1, theirs.version)
            state.revisions = [replace(theirs, version=state.version)]
            state.updated_at, state.superseded_by = max(state.updated_at, change.at), ""
    elif ours.status == "live" and normal(theirs.text) == normal(ours.text):
        evidence = united(ours.evidence, theirs.evidence)
        state.amend(change.at, "imported", evidence=evidence, pinned=ours.pinned or theirs.pinned)
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
