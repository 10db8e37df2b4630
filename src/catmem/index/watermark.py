"""How far the index has come: a small file beside it, written after each commit and safe to lose."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from catmem.domain.session import SessionHeader, SessionRef
from catmem.settings.paths import Paths, write_private
from catmem.store.folding import tombstones
from catmem.store.memories import MemoryStore

SessionMark: TypeAlias = tuple[int, int, str]
"""The last indexed id of a session, how many of its messages are indexed, and its `updated_at` then."""


@dataclass(slots=True)
class Watermark:
    """`database` and `turn` say which memories are indexed, `sessions` which messages.

    `files` is what `state_of` said of the session files when all of them were.
    """

    path: Path
    database: str = ""
    turn: int = 0
    sessions: dict[SessionRef, SessionMark] = field(default_factory=dict)
    files: str = ""

    @classmethod
    def load(cls, path: Path) -> Watermark:
        """The watermark of `path`; one that says "nothing yet" where it is missing or cannot be read."""
        try:
            return _from_record(path, json.loads(path.read_bytes()))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls(path)

    def save(self) -> None:
        sessions: dict[str, dict[str, Any]] = {}
        for ref, mark in self.sessions.items():
            sessions.setdefault(ref.project, {})[ref.key] = mark
        record = {"database": self.database, "turn": self.turn, "sessions": sessions, "files": self.files}
        write_private(self.path, json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))

    def is_behind(self, header: SessionHeader) -> bool:
        mark = self.sessions.get(header.ref)
        return mark is None or (mark[0], mark[2]) != (header.last_id, header.updated_at)


def _from_record(path: Path, record: dict[str, Any]) -> Watermark:
    sessions = {
        SessionRef(project, key): (int(mark[0]), int(mark[1]), str(mark[2]))
        for project, marks in record["sessions"].items()
        for key, mark in marks.items()
    }
    return Watermark(path, str(record["database"]), int(record["turn"]), sessions, str(record.get("files", "")))


def state_of(messages: Path) -> str:
    """A hash of the names, sizes, times and inodes of all session files: the same as long as none was touched.

    Of ten thousand sessions it costs a fifth of reading each first line. "" where there is none.
    """
    seen = hashlib.blake2b(digest_size=16)
    try:
        folders = sorted(entry.path for entry in os.scandir(messages) if entry.is_dir())
        files = [entry for folder in folders for entry in os.scandir(folder) if entry.is_file()]
        for file in sorted(files, key=lambda entry: entry.path):
            found = file.stat()
            seen.update(f"{file.path}\0{found.st_size} {found.st_mtime_ns} {found.st_ino}\n".encode("utf-8", "replace"))
    except OSError:
        # Not there yet, or a file went while we looked: then nothing is known of them.
        return ""
    return seen.hexdigest() if files else ""


def database_identity(paths: Paths, store: MemoryStore) -> str:
    """Names this memories.db. A new one counts its turns from the time of its making, so it is known by them, too,
    should the file system give it the inode of the old one."""
    store.turn()
    return str(paths.database.stat().st_ino)


def forgotten_hashes(store: MemoryStore) -> frozenset[str]:
    """The statement hashes of everything the user had forgotten."""
    return store.using(tombstones).hashes
