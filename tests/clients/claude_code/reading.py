"""How the tests of this assistant read a transcript."""

from __future__ import annotations

from pathlib import Path

from catmem.clients.claude_code.history import ClaudeCodeHistory
from catmem.clients.port import TranscriptChunk
from catmem.domain.message import Message

READER = ClaudeCodeHistory()


def read(path: Path, **options: object) -> TranscriptChunk:
    (chunk,) = READER.chunks(path, **options)  # type: ignore[arg-type]
    return chunk


def told(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages]


def uids(messages: tuple[Message, ...]) -> list[str]:
    return [m.uid for m in messages]
