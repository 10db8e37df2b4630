"""A memory as the JSON kept in memories.db, and as the entries of an export."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from catmem.domain.change_record import evidence_from_record, evidence_to_record
from catmem.domain.errors import DataDamaged
from catmem.domain.memory import Memory, Revision


def memory_to_json(memory: Memory) -> str:
    record = {
        "id": memory.id,
        "project": memory.project,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "superseded_by": memory.superseded_by,
        "explicit": memory.explicit,
        "revisions": [_revision_to_record(revision) for revision in memory.revisions],
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def memory_from_json(text: str) -> Memory:
    """The memory of a row. Raises DataDamaged if it is not what `memory_to_json` wrote."""
    try:
        record = json.loads(text)
        revisions = tuple(_revision_from_record(r) for r in record.pop("revisions"))
        return Memory(revisions=revisions, **record)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataDamaged(f"a row of memories.db is damaged: {error}", f"memories.db 有一行已损坏：{error}") from error


def _revision_to_record(revision: Revision) -> dict[str, Any]:
    record = {f.name: getattr(revision, f.name) for f in dataclasses.fields(revision)}
    record["evidence"] = [evidence_to_record(e) for e in revision.evidence]
    return record


def _revision_from_record(record: dict[str, Any]) -> Revision:
    record["tags"] = tuple(record["tags"])
    record["evidence"] = tuple(evidence_from_record(e) for e in record["evidence"])
    return Revision(**record)


def export_entries(memory: Memory) -> list[dict[str, Any]]:
    """The entries of a memory in an export: one for each statement that it has been, the present one last.

    Entries of one memory share its id and differ in `version` and `status`.
    """
    return [_export_entry(memory, revision) for revision in memory.revisions]


def _export_entry(memory: Memory, revision: Revision) -> dict[str, Any]:
    return {
        "id": memory.id,
        "scope": revision.scope,
        "project": memory.project,
        "kind": revision.kind,
        "subject": revision.subject,
        "predicate": revision.predicate,
        "object": revision.object,
        "text": revision.text,
        "tags": list(revision.tags),
        "confidence": revision.confidence,
        "confirmations": revision.confirmations,
        "pinned": revision.pinned,
        "status": revision.status,
        "version": revision.version,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "valid_from": revision.valid_from or None,
        "valid_to": revision.valid_to or None,
        "evidence": [evidence_to_record(e) for e in revision.evidence],
    }
