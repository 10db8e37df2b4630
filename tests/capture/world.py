"""A data directory, and an assistant that tells it of its turns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from catmem.capture.hook import capture_event
from catmem.capture.importing import Importer, ImportReport
from catmem.clients.claude_code.event import parse
from catmem.domain.clock import seconds_of, stamp
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.sessions.history import History
from catmem.settings.paths import Paths
from tests.clients.talk import FOLDER, SESSION

PROJECT = "teapot-1234abcd"
KEY = f"claude-code:{SESSION}"
REF = SessionRef(PROJECT, KEY)
# 2026-03-01, as old as the talks of tests.clients.talk.
START = seconds_of("2026-03-01T10:00:00.000Z")


def hide(text: str, source: str) -> str:
    """Stands for the redaction of secrets: what begins with `sk_` is one."""
    return " ".join("[secret:key:0badcafe]" if word.startswith("sk_") else word for word in text.split(" "))


class World:
    def __init__(self, folder: Path) -> None:
        self.root = folder / "data"
        self.transcript = folder / f"{SESSION}.jsonl"
        self.history = History(Paths(self.root), durability="turn", redact=hide, clock=lambda: self.now)
        self.now = START

    def hook(self, name: str, *, project: str = PROJECT, stop: bool = False, **payload: Any) -> dict[str, Any]:
        told = {"session_id": SESSION, "transcript_path": str(self.transcript), "cwd": FOLDER, **payload}
        return capture_event(
            parse(name, told),
            root=str(self.root),
            project=project,
            redact=hide,
            at=stamp(self.now),
            seconds=self.now,
            make_history=lambda: self.history,
            stop=lambda: stop,
        )

    def prompt(self, text: str, prompt_id: str = "", **payload: Any) -> dict[str, Any]:
        return self.hook("UserPromptSubmit", prompt=text, **({"prompt_id": prompt_id} if prompt_id else {}), **payload)

    def stop(self, reply: str = "", prompt_id: str = "", **payload: Any) -> dict[str, Any]:
        named = {"prompt_id": prompt_id} if prompt_id else {}
        return self.hook("Stop", last_assistant_message=reply, stop_hook_active=False, **named, **payload)

    def messages(self, ref: SessionRef = REF) -> list[Message]:
        return list(self.history.read(ref).messages) if self.history.exists(ref) else []

    def told(self, ref: SessionRef = REF) -> list[tuple[str, str]]:
        return [(m.role, m.content) for m in self.messages(ref)]

    def marks(self, name: str, ref: SessionRef = REF) -> list[Any]:
        return list(self.history.marks(ref, name))

    def imported(self, *paths: Path, source: str = "auto", **options: Any) -> ImportReport:
        importer = Importer(self.history, project_of=lambda cwd: PROJECT, **options)
        return importer.run(list(paths), source)

    def bytes(self) -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in self.root.rglob("*.jsonl")}
