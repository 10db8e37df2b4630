"""The files of opencode before 1.2: `storage/session/<project>/<id>.json`, with its messages and parts beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.draft import Draft, record_of, records_in, text_of
from catmem.clients.json_items import items_of
from catmem.clients.opencode.database import messages_in
from catmem.clients.opencode.talk import Record, Talk, session_key
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import written_at
from catmem.domain.clock import parse_instant, stamp, system_clock


def is_session(path: Path, head: bytes) -> bool:
    """True for the file that describes a session."""
    return path.suffix == ".json" and path.parent.parent.name == "session" and b'"id"' in head and b'"time"' in head


def is_export(head: bytes) -> bool:
    """True for what `opencode export` writes: one session with its messages and their parts."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"{" and all(
        field in head for field in (b'"info"', b'"messages"', b'"projectID"')
    )


def session_of(path: Path, limit: int) -> Iterator[TranscriptChunk]:
    """A session from its files. What the database beside them has of it, it tells itself."""
    draft = Draft(str(path), "", written_at(path))
    session = _read(draft, path)
    name = text_of(session.get("id")) or path.stem
    talk = _talk(draft, session, name)
    root = path.parent.parent.parent
    # An earlier layout keeps messages and parts below the sessions, and the session's name among the parts.
    former = path.parent.name == "info"
    base = root / "session" if former else root
    told = set().union(
        *(messages_in(one, name) for folder in (root.parent, root) for one in folder.glob("opencode*.db"))
    )
    found = [_read(draft, one) for one in sorted((base / "message" / name).glob("*.json"))]
    held = 0
    for info in sorted(found, key=_moment):
        uid = text_of(info.get("id"))
        if uid in told or not uid:
            continue
        folder = base / "part" / name / uid if former else base / "part" / uid
        parts = [{"type": "", **_read(draft, one)} for one in sorted(folder.glob("*.json"))]
        held += talk.message(info, parts or [{"type": "", **part} for part in records_in(info.get("parts"))])
        if held >= limit:
            yield draft.chunk(at_end=False)
            held = 0
    yield draft.chunk(path.stat().st_size)


def exported(path: Path) -> Iterator[TranscriptChunk]:
    """The session of an export."""
    draft = Draft(str(path), "", written_at(path))
    document = _read(draft, path)
    session = record_of(document.get("info"))
    talk = _talk(draft, session, text_of(session.get("id")) or path.stem)
    for one in records_in(document.get("messages")):
        talk.message(record_of(one.get("info")), [{"type": "", **part} for part in records_in(one.get("parts"))])
    yield draft.chunk(path.stat().st_size)


def told(payload: Record) -> TranscriptChunk:
    """A turn in the shape of an export, and the session that it belongs to. What it follows is not in it."""
    session = record_of(payload.get("session"))
    draft = Draft("", "", stamp(system_clock()))
    talk = _talk(draft, session, text_of(payload.get("session_id")))
    draft.cwd = text_of(payload.get("cwd")) or draft.cwd
    for one in records_in(payload.get("messages")):
        talk.message(record_of(one.get("info")), [{"type": "", **part} for part in records_in(one.get("parts"))])
    chunk = draft.chunk()
    return replace(
        chunk, messages=tuple(replace(message, parent="") for message in chunk.messages), prompts=_prompts(chunk)
    )


def _prompts(chunk: TranscriptChunk) -> dict[str, str]:
    """Our hook knew a prompt by the very name that it has here."""
    return {message.uid: message.uid for message in chunk.messages if message.role == "user"}


def _talk(draft: Draft, session: Record, name: str) -> Talk:
    draft.key = session_key(name)
    return Talk(draft, session)


def _moment(info: Record) -> tuple[str, str]:
    instant = parse_instant(record_of(info.get("time")).get("created"))
    return (instant[0] if instant else "", text_of(info.get("id")))


def _read(draft: Draft, path: Path) -> Record:
    """The record in a file; {} and a fault where there is none."""
    with path.open("rb") as file:
        item = next(items_of(file), None)
    if item is None or item.reason:
        detail = item.reason if item else "empty"
        draft.fault(reasons.not_json(detail if str(path) == draft.file else f"{detail} ({path.name})"))
        return {}
    draft.read()
    return record_of(item.value)
