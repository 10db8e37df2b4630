"""A client for tests: its transcript is what it is told, its configuration a flag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from catmem.clients.port import CHUNK_BYTES, START, Position, TranscriptChunk


class FakeHistory:
    """Gives the chunks that it was made of, from the position on."""

    def __init__(self, *chunks: TranscriptChunk) -> None:
        self._chunks = chunks

    def recognises(self, head: Sequence[object]) -> bool:
        return True

    def chunks(
        self, path: Path, position: Position = START, *, limit: int = CHUNK_BYTES, final: bool = True
    ) -> Iterator[TranscriptChunk]:
        return (chunk for chunk in self._chunks if chunk.position.offset > position.offset)


class FakeHooks:
    """Takes a payload for an event as it is."""

    def parse(self, event_name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
        empty = dict.fromkeys(
            ("session", "cwd", "transcript", "prompt", "prompt_id", "source", "reason", "reply", "agent_id"), ""
        )
        return {**empty, "helper": False, **payload, "client": "fake", "name": event_name, "raw": payload}


class FakeInstaller:
    """Remembers whether it is installed."""

    def __init__(self) -> None:
        self.installed = False

    def install(self) -> Sequence[str]:
        changed, self.installed = not self.installed, True
        return ("fake-settings",) if changed else ()

    def uninstall(self) -> Sequence[str]:
        changed, self.installed = self.installed, False
        return ("fake-settings",) if changed else ()
