"""Reads the sessions of opencode: its database, its files of before, and what it prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from catmem.clients.foreign_db import SIGNATURE
from catmem.clients.opencode import database, files, lines
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, first_records, refuse_encodings

_HEAD_BYTES = 1 << 16


class OpencodeHistory(WholeFileHistory):
    """The History of opencode. A session that lies in the database and in files is one."""

    def knows(self, path: Path, head: bytes) -> bool:
        return (
            database.is_database(path, head)
            or files.is_session(path, head)
            or files.is_export(head)
            or lines.are_lines(first_records(head))
        )

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
        if head.startswith(SIGNATURE):
            yield from database.sessions_of(path, limit)
            return
        refuse_encodings(path, head)
        if files.is_session(path, head):
            yield from files.session_of(path, limit)
        elif files.is_export(head):
            yield from files.exported(path)
        else:
            yield from lines.sessions_in(path)

    def turn(self, payload: Mapping[str, Any]) -> TranscriptChunk:
        """The messages of one turn, as our plugin tells them at its end."""
        return files.told(payload)


READER = OpencodeHistory()
