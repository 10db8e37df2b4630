"""A machine of a newcomer: a home of its own, the program as it is installed, an assistant that calls its hooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class Machine:
    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.root = self.home / ".catmem"
        self.environment = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        if "PYTHONPATH" in os.environ:  # the source under test may not be the one that is installed
            self.environment["PYTHONPATH"] = os.environ["PYTHONPATH"]

    def start(self, *arguments: object, cwd: Path | None = None) -> subprocess.Popen[str]:
        command = [str(Path(sys.executable).with_name("mem")), *map(str, arguments)]
        pipe = subprocess.PIPE
        return subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=self.environment, cwd=cwd or self.home
        )

    def run(self, *arguments: object, typed: str = "", cwd: Path | None = None) -> str:
        """Stdout of a command that ends with 0."""
        process = self.start(*arguments, cwd=cwd)
        said, errors = process.communicate(typed, timeout=120)
        assert process.returncode == 0, errors
        return said

    def json(self, *arguments: object) -> Any:
        return json.loads(self.run("--json", *arguments))

    def hook(self, event: str, cwd: Path, **payload: object) -> str:
        told = {"hook_event_name": event, "session_id": "s1", "transcript_path": "/nonexistent.jsonl", "cwd": str(cwd)}
        return self.run("hook", "claude-code", event, typed=json.dumps({**told, **payload}), cwd=cwd)

    def exported(self) -> Any:
        return json.loads(self.run("export", "--messages"))

    def said(self) -> list[str]:
        """What all sessions hold, as an export has it."""
        return [m["content"] for session in self.exported()["sessions"] for m in session["messages"]]

    def bytes(self) -> bytes:
        """Every byte of the data directory."""
        return b"\n".join(path.read_bytes() for path in sorted(self.root.rglob("*")) if path.is_file())


def talk_file(folder: Path, session: str, *turns: tuple[str, str], name: str = "", **fields: object) -> Path:
    """A transcript in the shape of Claude Code: (role, text) a minute apart."""
    lines, parent = [], None
    for number, (role, text) in enumerate(turns, 1):
        content: object = text if role == "user" else [{"type": "text", "text": text}]
        uuid = f"{session[:4]}-{number}"
        line = {
            "parentUuid": parent,
            "isSidechain": False,
            "type": role,
            "uuid": uuid,
            "cwd": "/home/kim/teapot",
            "sessionId": session,
            "timestamp": f"2026-03-01T10:{number:02d}:00.000Z",
            "message": {"role": role, "content": content, "id": f"msg_{uuid}"},
            **fields,
        }
        parent = uuid
        lines.append(json.dumps(line))
    path = folder / f"{name or session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    return path
