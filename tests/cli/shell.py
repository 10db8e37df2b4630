"""A person's shell in a folder of their own: `mem` with its arguments, typed input, language and clock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

LOCALES = {"en": "en_US.UTF-8", "zh": "zh_CN.UTF-8"}
# A Wednesday at noon; each command begins a minute after the one before.
NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one object on stdout."""
        assert self.out.count("\n") == 1 and self.out.endswith("\n"), self.out
        return json.loads(self.out)


class Nursery:
    """The process that commands are forked from (nursery.py); one for each process that runs tests."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("nursery.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # Ctrl-C is for the tests; the end of input ends it.
        )

    def run(
        self,
        arguments: Sequence[str],
        *,
        environment: Mapping[str, str],
        folder: Path,
        stdin: Path | str | None,
        stdout: Path | str | None,
        stderr: Path | str,
        now: str | None = None,
        file_limit: int | None = None,
    ) -> int:
        """The exit code of a command; its streams are files, None for closed. `now` is the clock that it sees."""
        streams = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        request = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "folder": str(folder),
            **{name: None if file is None else str(file) for name, file in streams.items()},
            "now": now,
            "file_limit": file_limit,
        }
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return int(json.loads(self._process.stdout.readline())["code"])

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)


class Shell:
    """`home` holds the data directory `.catmem`; commands run in `folder`."""

    def __init__(self, root: Path, nursery: Nursery, language: str = "en") -> None:
        self.root = root
        self.home, self.folder, self.data = root / "home", root / "shop", root / "home" / ".catmem"
        for folder in (self.home, self.folder):
            folder.mkdir(exist_ok=True)
        self._now = NOW
        self._nursery = nursery
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "TZ": "UTC",
            "LANG": LOCALES[language],
            "TERM": "dumb",
        }

    def mem(
        self,
        *arguments: str | Path,
        typed: str | bytes | None = "",
        stdout: str | None = "",
        merged: bool = False,
        file_limit: int | None = None,
        environment: Mapping[str, str | None] | None = None,
    ) -> Ended:
        """Runs a command. `typed` None closes stdin, `stdout` None closes it, a path is written to instead.

        `environment` changes variables, None takes one away; `merged` gives both streams as `out`, in order.
        """
        typed_at, out, err = self.root / "typed", self.root / "out", self.root / "err"
        typed_at.write_bytes(typed.encode() if isinstance(typed, str) else typed or b"")
        out.write_bytes(b"")
        err.write_bytes(b"")
        self._now += timedelta(minutes=1)
        changed = {**self.environment, **(environment or {})}
        code = self._nursery.run(
            [str(argument) for argument in arguments],
            environment={name: value for name, value in changed.items() if value is not None},
            folder=self.folder,
            stdin=None if typed is None else typed_at,
            stdout=out if stdout == "" else stdout,
            stderr=out if merged else err,
            now=self._now.isoformat(),
            file_limit=file_limit,
        )
        return Ended(code, out.read_text("utf-8"), err.read_text("utf-8"))

    def ok(self, *arguments: str | Path, **how: Any) -> str:
        """The output of a command that must succeed."""
        done = self.mem(*arguments, **how)
        assert done.code == 0, f"mem {arguments} exited {done.code}: {done.out}{done.err}"
        return done.out

    def json(self, *arguments: str | Path, **how: Any) -> Any:
        """The object that a command prints with `--json`."""
        done = self.mem(*arguments, "--json", **how)
        assert done.code == 0, f"mem {arguments} exited {done.code}: {done.out}{done.err}"
        return done.json

    def write(self, name: str, text: str | bytes) -> Path:
        """A file in the folder where commands run."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def talk(
        self, name: str, *said: tuple[str, str] | str, session: str = "", project: str = "shop", day: str = "2026-06-30"
    ) -> Path:
        """A conversation in the plain import format: texts of the user, or (role, text), a minute apart."""
        lines = []
        for number, part in enumerate(said):
            role, text = ("user", part) if isinstance(part, str) else part
            lines.append(
                {
                    "session": session or name,
                    "project": project,
                    "role": role,
                    "content": text,
                    "timestamp": f"{day}T09:{number:02d}:00Z",
                }
            )
        return self.write(f"{name}.jsonl", "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
