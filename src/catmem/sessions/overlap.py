"""What a kill, or a hand, may leave between a session's live file and its archive, and putting it right."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from catmem.sessions import archive
from catmem.sessions import header as line1
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.open_session import OpenSession
from catmem.sessions.parts import archived_parts, settled_parts, trimmed_mark
from catmem.sessions.quarantine import keep as set_aside
from catmem.sessions.records import encode_stored, is_message, mark_record, stored
from catmem.sessions.refusals import storage_failed
from catmem.sessions.trim import messages_of, open_for_compaction, trim


def in_both(place: Place, live: Sequence[Mapping[str, Any]]) -> list[int]:
    """Ids that both files have although no step is under way: left by a kill before a mark, or before a trim.

    `live` are the records of the live file, with or without their words.
    """
    ids = {record["id"] for _, record in archive.archived_lines(place)}
    both = {record["id"] for record in live if is_message(record)} & ids
    waits = [part for part in archived_parts(live) if part not in settled_parts(live)]
    return sorted(id for id in both if not any(part.has(id) for part in waits))


def mend_both(place: Place, now: str) -> None:
    """Takes what no mark speaks of out of the archive, since the live file has it; then finishes a trim."""
    with open_for_compaction(place) as session:
        lines = list(session.own_lines())
        parts = archived_parts([record for _, record in lines])
        live = {record["id"] for record in messages_of(lines)}
        found = archive.read_archive(place)
        kept = [
            (line, record)
            for line, record in found.lines
            if record["id"] not in live or any(part.has(record["id"]) for part in parts)
        ]
        if len(kept) < len(found.lines):
            set_aside(place.quarantine, found.bad)
            archive.rewrite(place, session.header, kept, now)
    trim(place, now)


def drop_damage(place: Place, now: str) -> bool:
    """Moves the damaged parts of an archive into the quarantine. Tells whether there were any."""
    with open_for_compaction(place) as session:
        found = archive.read_archive(place)
        if found.bad:
            set_aside(place.quarantine, found.bad)
            archive.rewrite(place, session.header, found.lines, now)
        return bool(found.bad)


def restore(place: Place, now: str) -> None:
    """Makes the live file of an archive that stands alone: a line 1, and marks that say where the messages are."""
    found = archive.read_archive(place)
    if not found.lines:
        return
    records = [record for _, record in found.lines]
    key = records[0]["sessionKey"]
    base = line1.rebuild(key, records)
    first, last = records[0]["id"], base["metadata"]["last_id"]
    marks = [
        trimmed_mark(base, first, last, now),
        *([found.listed] if found.listed else []),
        mark_record("archived", now, key=key, first_id=first, last_id=last, also=[], why="age"),
    ]
    try:
        with session_lock(place.lock, 0):
            if os.path.exists(place.file):
                return
            session = OpenSession(place, key)
            try:
                session.header = line1.rebuild(key, marks)
                session.replace([encode_stored(stored(mark)) for mark in marks])
            finally:
                session.close()
    except OSError as error:
        raise storage_failed(place.file, error) from error
