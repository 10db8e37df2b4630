"""A hook that hangs ends by itself, the host hears nothing wrong, and what was said is kept and distilled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from catmem.sessions.names import file_name
from catmem.settings.places import Places
from tests.inject.person import SESSION, Person


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
