"""The parts of a session that were archived, as its marks tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Why = Literal["length", "age"]
"""The session grew too long, and the part gets a summary; or it is old, and all of it was archived."""


@dataclass(frozen=True, slots=True)
class Part:
    """A range of a session's messages: all ids from `first_id` to `last_id` that there are, and those in `also`."""

    first_id: int
    last_id: int
    also: frozenset[int] = frozenset()
    why: str = "length"

    def has(self, id: int) -> bool:
        return self.first_id <= id <= self.last_id or id in self.also


def archived_parts(records: Sequence[Mapping[str, Any]]) -> list[Part]:
    """The parts that `archived` marks name, oldest first; a garbled mark names none."""
    return [part for record in records if record.get("mark") == "archived" and (part := _part(record))]


def waiting_part(records: Sequence[Mapping[str, Any]]) -> Part | None:
    """The oldest part that is archived and has no summary yet."""
    settled = settled_parts(records)
    return next((part for part in archived_parts(records) if part not in settled), None)


def settled_parts(records: Sequence[Mapping[str, Any]]) -> list[Part]:
    """The parts that may leave the live file."""
    done = {(r.get("first_id"), r.get("last_id")) for r in records if r.get("mark") == "consolidated"}
    return [part for part in archived_parts(records) if part.why == "age" or (part.first_id, part.last_id) in done]


def trimmed_mark(header: Mapping[str, Any], first_id: int, last_id: int, now: str) -> dict[str, Any]:
    """What a live file says in place of the messages that went to the archive; `header` is what they made of it."""
    metadata = header["metadata"]
    counted = {name: metadata[name] for name in ("count", "last_id", "root", "last_role")}
    said = {name: header[name] for name in ("preview", "created_at", "updated_at")}
    return {
        "mark": "trimmed",
        "sessionKey": header["key"],
        "timestamp": now,
        "first_id": first_id,
        "last_id": last_id,
        "header": {**said, "metadata": counted},
    }


def _part(mark: Mapping[str, Any]) -> Part | None:
    first, last, also = mark.get("first_id"), mark.get("last_id"), mark.get("also")
    if not isinstance(first, int) or not isinstance(last, int):
        return None
    others = also if isinstance(also, list) else []
    return Part(first, last, frozenset(id for id in others if isinstance(id, int)), str(mark.get("why", "length")))
