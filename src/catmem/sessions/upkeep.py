"""The rarer changes of a session: deleted, purged of a sentence; and index.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from catmem.domain.errors import NotFound
from catmem.domain.session import SessionHeader, SessionRef
from catmem.sessions import header as line1
from catmem.sessions import quarantine
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.open_session import OpenSession
from catmem.sessions.records import encode, header_record, is_message, mark_record
from catmem.sessions.refusals import storage_failed
from catmem.sessions.rewrite import remove_temporaries, sync_folder
from catmem.settings.paths import Paths, write_private

INDEX_FORMAT = "catmem-index/1"

# Names and times, which a sentence cannot stand in.
_NO_TEXT = frozenset({"mark", "sessionKey", "timestamp", "role", "kind", "uid", "parent", "toolCallId", "id"})


def delete(place: Place, ref: SessionRef) -> None:
    """Removes the files of a session and what of it was set aside. The lock file stays: it must be the only one."""
    file, older = Path(place.file), Path(place.archive)
    with session_lock(place.lock):
        try:
            # First, so that no later session of this key is met by the messages of this one.
            if older.exists():
                older.unlink()
                remove_temporaries(str(older.parent), older.name)
                sync_folder(str(older.parent))
            file.unlink()
            remove_temporaries(str(file.parent), file.name)
            sync_folder(str(file.parent))
            Path(place.quarantine).unlink(missing_ok=True)
        except FileNotFoundError as error:
            raise NotFound(f"no session {ref.key!r}", f"没有会话 {ref.key!r}") from error
        except OSError as error:
            raise storage_failed(place.file, error) from error


def purge(place: Place, quote: str, now: str) -> int:
    """Takes a sentence out of every text of a session, and out of what was set aside. See History.purge."""
    pattern = pattern_of(quote)
    if pattern is None or not Path(place.file).is_file():
        return 0
    try:
        with session_lock(place.lock):
            session = OpenSession(place, "", create=False)
            try:
                purged = _purge(session, pattern, now, _purge_archive(session, pattern, now))
            finally:
                session.close()
            quarantine.drop(place.quarantine, lambda raw: bool(pattern.search(raw.decode("utf-8", "replace"))))
    except OSError as error:
        raise storage_failed(place.file, error) from error
    return purged


def write_index(paths: Paths, headers: Iterable[SessionHeader]) -> None:
    """index.json: {"format","projects":[{"key","sessions","messages","updated_at"}],"sessions":[line 1 of each]}."""
    sessions = sorted(headers, key=lambda header: header.ref)
    projects: dict[str, dict[str, Any]] = {}
    for header in sessions:
        project = projects.setdefault(
            header.ref.project, {"key": header.ref.project, "sessions": 0, "messages": 0, "updated_at": ""}
        )
        project["sessions"] += 1
        project["messages"] += header.count
        project["updated_at"] = max(project["updated_at"], header.updated_at)
    index = {
        "format": INDEX_FORMAT,
        "projects": list(projects.values()),
        "sessions": [header_record(header) for header in sessions],
    }
    try:
        paths.make(paths.root)
        write_private(paths.index, json.dumps(index, ensure_ascii=False, indent=1).encode() + b"\n")
    except OSError as error:
        raise storage_failed(str(paths.index), error) from error


def _purge_archive(session: OpenSession, pattern: re.Pattern[str], now: str) -> set[int]:
    """Takes the sentence out of the archive; which messages there had it."""
    if not Path(session.place.archive).exists():
        return set()
    from catmem.sessions import archive

    found = archive.read_archive(session.place)
    lines, changed = [], set()
    for line, record in found.lines:
        new = _without(record, pattern)
        if new != record:
            changed.add(record["id"])
            line = encode(new)
        lines.append((line, new))
    if changed or pattern.search(json.dumps(found.listed, ensure_ascii=False)):
        quarantine.keep(session.place.quarantine, found.bad)
        archive.rewrite(session.place, {**session.header, **_without(session.header, pattern)}, lines, now)
    return changed


def _purge(session: OpenSession, pattern: re.Pattern[str], now: str, archived: set[int]) -> int:
    purged, touched, lines, records = 0, bool(archived), [], []
    for line, record in session.own_lines():
        changed = _without(record, pattern)
        if changed != record:
            purged += is_message(record) and record["id"] not in archived
            touched, line = True, encode(changed)
        lines.append(line)
        records.append(changed)
    if touched:
        purged += len(archived)
        mark = mark_record("purged", now, key=session.key, count=purged)
        header = line1.rebuild(session.key, [*records, mark])
        line1.fill(header, line1.salvaged(_without(session.header, pattern)))
        session.header = header
        session.replace([*lines, encode(mark)])
    return purged


def _without(record: Mapping[str, Any], pattern: re.Pattern[str]) -> dict[str, Any]:
    return {name: value if name in _NO_TEXT else _cut(value, pattern) for name, value in record.items()}


def _cut(value: Any, pattern: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return pattern.sub("", value)
    if isinstance(value, list):
        return [_cut(item, pattern) for item in value]
    if isinstance(value, dict):
        return _without(value, pattern)
    return value


def pattern_of(quote: str) -> re.Pattern[str] | None:
    r"""The sentence with any white space between its words, also where JSON has escaped it (`\n`, `\"`, `\u5fc6`)."""
    words = quote.split()
    if not words:
        return None
    return re.compile(r"(?:\s|\\+[nrt])+".join("".join(map(_letter, word)) for word in words))


def _letter(character: str) -> str:
    if character == '"':
        return r'\\*"'
    if character == "\\":
        return r"\\+"
    if character.isascii():
        return re.escape(character)
    escaped = json.dumps(character)[1:-1].replace("\\", r"\\+")
    return f"(?:{re.escape(character)}|(?i:{escaped}))"
