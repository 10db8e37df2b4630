"""The JSON form of a ledger line: one object, empty fields left out, every field checked when it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from catmem.domain.change import OPS, Change, Job, Op
from catmem.domain.errors import DataDamaged
from catmem.domain.memory import AUTHORS, KINDS, SCOPES, STATUSES, Claim, Evidence

_Choice = TypeVar("_Choice", bound=str)


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
    if change.project is not None:
        record["project"] = dict(change.project)
    if change.cursor is not None:
        record["cursor"] = dict(change.cursor)
    return record


def change_from_record(record: Mapping[str, Any]) -> Change:
    """The change of a JSON object. Raises DataDamaged if it is not one of ours; unknown fields are ignored.

    Every field is checked, since a line may come from another device: one bad line must not stop the fold.
    """
    try:
        op: Op = _one_of(record, "op", OPS)
        return Change(
            seq=_count(record, "seq"),
            at=_text(record, "at"),
            device=_text(record, "device"),
            op=op,
            by=_one_of(record, "by", AUTHORS),
            why=_text(record, "why", ""),
            job=_job_from_record(record["job"]) if record.get("job") else None,
            claims=tuple(_claim_from_record(c) for c in _list(record, "claims")),
            ids=_texts(record, "ids"),
            absorbed=_texts(record, "absorbed"),
            hashes=_texts(record, "hashes"),
            base_version=_count(record, "base_version", 0),
            pinned=bool(record.get("pinned", True)),
            digest=_mapping(record["digest"]) if record.get("digest") is not None else None,
            records=tuple(_checked_entry(r, op) for r in _list(record, "records")),
            project=_checked_project(record["project"]) if op == "project" else None,
            cursor=_checked_cursor(record["cursor"]) if op == "dream" else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise DataDamaged(f"not a ledger line: {error}", f"不是账本中的一行：{error}") from error


# SQLite and other readers of JSON hold no larger whole number exactly.
_LARGEST = 2**53


def _text(record: Mapping[str, Any], name: str, default: str | None = None) -> str:
    value = record[name] if default is None else record.get(name, default)
    if not isinstance(value, str):
        raise TypeError(f"{name} is not text")
    return value


def _count(record: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = record[name] if default is None else record.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _LARGEST:
        raise ValueError(f"{name} is not a count")
    return value


def _share(record: Mapping[str, Any], name: str) -> float:
    value = record[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"{name} is not between 0 and 1")
    return float(value)


def _list(record: Mapping[str, Any], name: str) -> list[Any]:
    value = record.get(name, [])
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} is not a list")
    return list(value)


def _texts(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    values = _list(record, name)
    if not all(isinstance(value, str) for value in values):
        raise TypeError(f"{name} is not a list of texts")
    return tuple(values)


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError("not an object")
    return value


def _one_of(record: Mapping[str, Any], name: str, choices: tuple[_Choice, ...]) -> _Choice:
    for choice in choices:
        if record[name] == choice:
            return choice
    raise ValueError(f"unknown {name} {record[name]!r}")


def _job_from_record(record: Any) -> Job:
    job = _mapping(record)
    return Job(
        _text(job, "project"),
        _text(job, "session"),
        _count(job, "first_id"),
        _count(job, "last_id"),
        _text(job, "recipe"),
    )


def _checked_project(value: Any) -> Mapping[str, str]:
    said = dict(_mapping(value))
    for name in said:
        _text(said, name)
    _text(said, "key")
    return said


def _checked_cursor(value: Any) -> Mapping[str, int]:
    said = _mapping(value)
    return {device: _count(said, device) for device in said}


def _checked_entry(record: Any, op: Op) -> Mapping[str, Any]:
    """An entry of an export, or a tombstone of a forget, with every field that the fold reads."""
    entry = dict(_mapping(record))
    if op != "import":
        for name in ("id", "project", "scope", "kind", "created_at", "valid_from"):
            _text(entry, name)
        _count(entry, "version")
        for session in _list(entry, "sessions"):
            project, key = session
            _texts({"session": [project, key]}, "session")
        return entry
    for name in ("id", "project", "subject", "predicate", "object", "text", "created_at", "updated_at"):
        _text(entry, name)
    for name, choices in (("scope", SCOPES), ("kind", KINDS), ("status", STATUSES)):
        _one_of(entry, name, choices)
    for name in ("valid_from", "valid_to"):
        _text({name: entry[name] or ""}, name)
    _count(entry, "version")
    _share(entry, "confidence")
    _texts(entry, "tags")
    for e in _list(entry, "evidence"):
        evidence_from_record(_mapping(e))
    return entry


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


def _claim_from_record(value: Any) -> Claim:
    record = _mapping(value)
    return Claim(
        id=_text(record, "id"),
        scope=_one_of(record, "scope", SCOPES),
        project=_text(record, "project"),
        kind=_one_of(record, "kind", KINDS),
        subject=_text(record, "subject"),
        predicate=_text(record, "predicate"),
        object=_text(record, "object"),
        text=_text(record, "text"),
        valid_from=_text(record, "valid_from"),
        confidence=_share(record, "confidence"),
        tags=_texts(record, "tags"),
        evidence=tuple(evidence_from_record(_mapping(e)) for e in _list(record, "evidence")),
        supersedes=_texts(record, "supersedes"),
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
        at=_text(record, "at"),
        project=_text(record, "project", ""),
        session=_text(record, "session"),
        message_id=_count(record, "message_id"),
        quote=_text(record, "quote"),
    )
