"""The database of opencode since 1.2: read while the program runs, and never written to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.draft import Draft, record_of, text_of
from catmem.clients.foreign_db import SIGNATURE, ForeignDatabase, foreign_database
from catmem.clients.lines import LINE_LIMIT
from catmem.clients.opencode.talk import Record, Talk, session_key
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import written_at
from catmem.domain.clock import parse_instant
from catmem.domain.errors import BadInput, StorageFailed

_TABLES = {
    "session": ("id", "parent_id", "project_id", "directory", "title", "time_created"),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "data"),
}


def is_database(path: Path, head: bytes) -> bool:
    """True for a database with the tables of opencode; a damaged one is known by its name."""
    if not head.startswith(SIGNATURE):
        return False
    try:
        with foreign_database(path) as database:
            return all({"id", "data"} <= database.columns(table) for table in ("message", "part")) and bool(
                database.columns("session")
            )
    except StorageFailed:
        return path.name.startswith("opencode")


def sessions_of(path: Path, limit: int) -> Iterator[TranscriptChunk]:
    """All sessions of a database, the oldest first. Raises BadInput if it cannot be read."""
    try:
        with foreign_database(path) as database:
            sessions = _records(database, "session", "time_created, id")
            size = path.stat().st_size
            for number, session in enumerate(sessions, 1):
                draft = _draft(path, database, session)
                yield from _session(database, draft, session, limit, size * number // len(sessions))
    except StorageFailed as error:
        raise BadInput(error.en, error.zh) from error


def messages_in(path: Path, session: str) -> set[str]:
    """The ids of a session's messages; none where the database cannot be read."""
    try:
        with foreign_database(path) as database:
            if "session_id" not in database.columns("message"):
                return set()
            return {str(row[0]) for row in database.rows("SELECT id FROM message WHERE session_id = ?", (session,))}
    except StorageFailed:
        return set()


def _records(database: ForeignDatabase, table: str, order: str) -> list[dict[str, object]]:
    """The rows of a table by the names of the columns that we know; a version may lack some."""
    names = [name for name in _TABLES[table] if name in database.columns(table)]
    known = [name for name in order.split(", ") if name in names]
    query = f"SELECT {', '.join(names)} FROM {table} ORDER BY {', '.join(known)}"
    return [dict(zip(names, row, strict=True)) for row in database.rows(query)]


def _draft(path: Path, database: ForeignDatabase, session: Record) -> Draft:
    began = parse_instant(session.get("time_created"))
    draft = Draft(str(path), session_key(text_of(session.get("id"))), began[0] if began else written_at(path))
    draft.read()
    return draft


def _session(
    database: ForeignDatabase, draft: Draft, session: Record, limit: int, end: int
) -> Iterator[TranscriptChunk]:
    talk = Talk(draft, session, _worktree(database, text_of(session.get("project_id"))))
    held = 0
    query = "SELECT id, time_created, data FROM message WHERE session_id = ? ORDER BY time_created, id"
    for name, created, data in database.rows(query, (session.get("id"),)):
        info = {**_data(draft, data, str(name)), "id": str(name)}
        held += talk.message(info, list(_parts(database, draft, str(name))), created)
        if held >= limit:
            chunk, held = draft.chunk(end, at_end=False), 0
            if chunk.helper:  # a session of catmem itself: the others are the user's
                return
            yield chunk
    chunk = draft.chunk(end)
    if not chunk.helper:
        yield chunk


def _parts(database: ForeignDatabase, draft: Draft, message: str) -> Iterator[Record]:
    query = (
        "SELECT id, length(data), CASE WHEN length(data) <= ? THEN data END FROM part WHERE message_id = ? ORDER BY id"
    )
    for name, size, data in database.rows(query, (LINE_LIMIT, message)):
        if data is None:
            draft.fault(reasons.too_long(size or 0))
        else:
            yield {"type": "", **_data(draft, data, str(name)), "id": str(name)}


def _data(draft: Draft, data: object, name: str) -> Record:
    try:
        return record_of(json.loads(data if isinstance(data, str | bytes) else ""))
    except (ValueError, RecursionError) as error:
        draft.fault(reasons.not_json(f"{error} ({name})"))
        return {}


def _worktree(database: ForeignDatabase, project: str) -> str:
    if not project or "worktree" not in database.columns("project"):
        return ""
    return next((text_of(row[0]) for row in database.rows("SELECT worktree FROM project WHERE id = ?", (project,))), "")
