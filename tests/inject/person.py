"""Somebody who works with Claude Code: each hook and each command is a process of its own, as on their machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from catmem.inject.deadline import BUSY_BUDGETS

SESSION = "0f3cbb0e-7a45-4a2e-9d0a-3f2f5d1c9b11"
# The hard deadline, the last act, and what the machine takes to start and end a process.
WITHIN = max(BUSY_BUDGETS.values()) + 6
# Far above any run seen: it only turns a worker that never came into a failure.
PATIENCE = 60.0


class Person:
    """In a folder `shop`: `hook` is what the host calls, `mem` what they type."""

    def __init__(self, root: Path) -> None:
        self.folder, self.data, self.transcript = root / "shop", root / "data", root / "talk.jsonl"
        self.folder.mkdir()
        self.environment = {"PATH": os.environ["PATH"], "HOME": str(root), "LANG": "C.UTF-8"}

    def mem(self, *arguments: str, typed: str = "") -> str:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "catmem", *arguments, "--dir", str(self.data)],
            input=typed, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False,
            cwd=self.folder, env=self.environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def hook(self, event: str, **more: str) -> str:
        payload = {"session_id": SESSION, "transcript_path": str(self.transcript), "cwd": str(self.folder)}
        began = time.monotonic()
        said = self.mem("hook", "claude-code", event, typed=json.dumps({**payload, "hook_event_name": event, **more}))
        assert time.monotonic() - began < WITHIN
        return said

    def ends(self) -> None:
        """Their session. A host gives this hook no time, and where eight tests share two cores it may be too short."""
        for _ in range(10):
            self.hook("SessionEnd", reason="other")
            if any('"mark":"end"' in file.read_text("utf-8") for file in self.data.glob("messages/*/*.jsonl")):
                return
        raise AssertionError("the end is not noted")

    def knows(self, word: str) -> bool:
        """Whether a memory has it."""
        return any(word in file.read_text("utf-8") for file in (self.data / "ledger").glob("*.jsonl"))

    def learns(self, word: str) -> bool:
        """Whether that becomes so by itself."""
        until = time.monotonic() + PATIENCE
        while not self.knows(word):
            if time.monotonic() > until:
                return False
            time.sleep(0.1)
        return True
