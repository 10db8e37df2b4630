"""What a reader makes of a file of our own making, told shortly."""

from __future__ import annotations

import json
from pathlib import Path

from catmem.capture.formats import format_of
from catmem.capture.importing import Importer, ImportReport
from catmem.clients.port import TranscriptChunk
from catmem.clients.readers import reader_of
from catmem.domain.message import Message
from catmem.sessions.history import History
from catmem.settings.paths import Paths


def written(path: Path, content: object) -> Path:
    """A file with this content: text and bytes as they are, anything else as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, indent=1))
    return path


def lines(*records: object) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def chunks(client: str, path: Path, **options: int) -> list[TranscriptChunk]:
    return list(reader_of(client).chunks(path, **options))  # type: ignore[arg-type]


def messages(client: str, path: Path) -> list[Message]:
    return [message for chunk in chunks(client, path) for message in chunk.messages]


def told(client: str, path: Path) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in messages(client, path)]


def reasons(client: str, path: Path) -> list[tuple[int, str]]:
    return [(problem.line, problem.reason) for chunk in chunks(client, path) for problem in chunk.problems]


class Store:
    """A data directory to import into; `twice` imports again, and fails if that changes a byte or finds a message new."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "data"
        self.history = History(Paths(self._folder), durability="none", redact=lambda text, source: text)

    def once(self, *paths: Path, source: str = "auto") -> ImportReport:
        return Importer(self.history, project_of=lambda cwd: f"in{cwd}".replace("/", "-")).run(list(paths), source)

    def twice(self, *paths: Path, source: str = "auto") -> ImportReport:
        report = self.once(*paths, source=source)
        before = self._bytes()
        again = self.once(*paths, source=source)
        assert (again.messages_new, again.messages_known) == (0, report.messages_new + report.messages_known)
        assert self._bytes() == before
        return report

    def live(self) -> dict[str, list[tuple[str, str]]]:
        return {h.key: [(m.role, m.content) for m in self.history.messages(h.ref)] for h in self.history.headers()}

    def _bytes(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self._folder.rglob("*.jsonl")}


__all__ = ["Store", "chunks", "format_of", "lines", "messages", "reasons", "told", "written"]
