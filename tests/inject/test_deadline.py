"""A hook that hangs ends by itself, the host hears nothing wrong, and what was said is kept and distilled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from catmem.inject.deadline import BUSY_BUDGETS
from catmem.sessions.names import file_name
from catmem.settings.places import Places

SESSION = "0f3cbb0e-7a45-4a2e-9d0a-3f2f5d1c9b11"
# The hard deadline, the last act, and what the machine takes to start and end a process.
WITHIN = max(BUSY_BUDGETS.values()) + 4
# Far above any run seen: it only turns a worker that never came into a failure.
PATIENCE = 60.0


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


class Person:
    """Somebody with Claude Code in a folder `shop`: `hook` is what the host calls, `mem` what they type."""

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

    def learns(self, word: str) -> bool:
        until = time.monotonic() + PATIENCE
        while word not in self.mem("brief"):
            if time.monotonic() > until:
                return False
            time.sleep(0.1)
        return True


def let_go(pipe: Path) -> None:
    """Who opened it already reads nothing, and nobody else finds it."""
    descriptor = os.open(pipe, os.O_RDWR)
    pipe.unlink()
    os.close(descriptor)


SAID = ("Remember: we always use pnpm here.", "记住：这里一律用 pnpm。")


@pytest.mark.parametrize("said", SAID)
def test_recall_that_hangs_costs_the_prompt_its_memories_and_nothing_else(person: Person, said: str) -> None:
    person.mem("recall", "--save", "The tests run in docker 测试在 docker 里跑")
    told = Path(Places(str(person.data)).told)
    told.mkdir(parents=True, exist_ok=True)
    os.mkfifo(told / f"{file_name(f'claude-code:{SESSION}')}.jsonl")
    assert person.hook("UserPromptSubmit", prompt=said) == ""
    assert person.learns("pnpm")


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd"])
def test_whatever_hangs_a_hook_ends_and_says_so_to_who_asks(person: Person, event: str) -> None:
    person.data.mkdir()
    settings = person.data / "config.yaml"
    os.mkfifo(settings)
    assert person.hook(event, prompt="hello 你好", source="startup", last_assistant_message="OK 好的") == ""
    let_go(settings)
    assert "TimeoutError" in person.mem("status", "--json")
