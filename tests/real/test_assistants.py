"""Codex, Gemini CLI and opencode, the real programs, with our hooks: what is said is kept, what was kept is told again."""

from __future__ import annotations

import contextlib
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.assistants import CODEX, GEMINI, OPENCODE, Assistant, settings_of
from tests.real.dialects import Responses
from tests.real.machine import Machine
from tests.real.upstream import FakeUpstream, reply_to

pytestmark = pytest.mark.slow

# Gemini CLI spells the sign of a tag as an entity within what a hook told.
OUR_BLOCK = re.compile(r"(?:<|&lt;)catmem-memory\b.*?(?:<|&lt;)/catmem-memory(?:>|&gt;)", re.DOTALL)

ASSISTANTS = [
    pytest.param(assistant, marks=pytest.mark.real(assistant.name), id=assistant.name)
    for assistant in (CODEX, GEMINI, OPENCODE)
]
SAID = "Remember: in this repository we always use pnpm as the package manager. 记住：测试一律用 vitest。"
GOING_ON = "And what runs the tests? 测试用什么来跑？"
ASKED = "Which package manager should I use to add a dependency?"


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with FakeUpstream() as upstream:
        yield Machine(tmp_path, upstream)


@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_what_was_said_is_kept_and_told_in_the_next_session_once(machine: Machine, assistant: Assistant) -> None:
    assistant.prepare(machine)
    before = settings_of(assistant, machine)
    machine.mem("install", assistant.name)

    for prompt, again in ((SAID, False), (GOING_ON, True), (ASKED, False)):
        answer = assistant.ask(machine, prompt, again=again)
        assert (answer.code, answer.said) == (0, reply_to(prompt)), answer.stderr
        assert machine.left_running() == []
        machine.mem("work")  # on a busy machine the worker of the hook may have been late

    assert [turn.prompt for turn in machine.upstream.turns] == [SAID, GOING_ON, ASKED]
    told = [OUR_BLOCK.findall(turn.text) for turn in machine.upstream.turns]
    assert "".join(told[2]).count("pnpm") == 1, told[2]
    assert not any(OUR_BLOCK.search(request.text) for request in machine.upstream.requests if not request.is_turn)

    first, second = _sessions(machine)
    assert first == [SAID, reply_to(SAID), GOING_ON, reply_to(GOING_ON)]
    assert second == [ASKED, reply_to(ASKED)]

    _import_everything(machine, assistant)
    assert _sessions(machine) == [first, second], "the same talk by hook and by import is one"

    machine.mem("uninstall", assistant.name)
    after = settings_of(assistant, machine)
    assert {path: data for path, data in after.items() if path in before} == before
    assert not any(b"catmem" in data for data in after.values())


@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_what_became_known_since_stands_beside_the_prompt(machine: Machine, assistant: Assistant) -> None:
    assistant.prepare(machine)
    machine.mem("install", assistant.name)
    assistant.ask(machine, "Let us begin. 开始吧。")
    assert machine.left_running() == []
    machine.mem("recall", "--save", "The staging database listens on port 5433. 测试数据库在 5433 端口。")
    machine.mem("work")
    asked = "On which port does the staging database listen? 测试数据库在哪个端口？"
    assert assistant.ask(machine, asked, again=True).said == reply_to(asked)
    assert machine.left_running() == []

    first, second = machine.upstream.turns
    assert "5433" not in first.text and second.prompt == asked
    assert len([block for block in OUR_BLOCK.findall(second.text) if "5433" in block]) == 1
    assert "5433" not in OUR_BLOCK.sub("", second.text)
    (talk,) = _sessions(machine)
    assert talk[2:] == [asked, reply_to(asked)]


@pytest.mark.parametrize("assistant", ASSISTANTS)
def test_the_assistant_works_on_with_us_broken(machine: Machine, assistant: Assistant) -> None:
    assistant.prepare(machine)
    machine.mem("install", assistant.name)
    machine.mem("init")

    with _file_for_folder(machine):
        answer = assistant.ask(machine, "How do I indent? 怎么缩进？")
        assert machine.left_running() == []
    assert (answer.code, answer.said) == (0, reply_to("How do I indent? 怎么缩进？")), answer.stderr

    machine.installation.program.unlink()
    answer = assistant.ask(machine, "And in Go? Go 呢？", again=True)
    assert machine.left_running() == []
    assert (answer.code, answer.said) == (0, reply_to("And in Go? Go 呢？")), answer.stderr
    assert not any(OUR_BLOCK.search(turn.text) for turn in machine.upstream.turns)


@pytest.mark.real("codex")
def test_a_resumed_session_that_is_compacted_is_told_once(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Responses, "tokens", 50_000)
    CODEX.prepare(machine)
    config = machine.home / ".codex" / "config.toml"
    config.write_text("model_auto_compact_token_limit = 20000\n" + config.read_text())
    machine.mem("recall", "--save", "The staging database is on port 5433. 端口是 5433。", "--global")
    machine.mem("work")
    CODEX.ask(machine, "first words, before we were installed")
    machine.mem("install", "codex")
    CODEX.ask(machine, "second words", again=True)
    CODEX.ask(machine, "third words", again=True)
    assert machine.left_running() == []
    assert [turn.prompt.split()[0] for turn in machine.upstream.turns] == ["first", "second", "third"]
    assert len(machine.upstream.requests) > len(machine.upstream.turns), "it was compacted"
    assert [len(OUR_BLOCK.findall(turn.text)) for turn in machine.upstream.turns] == [0, 1, 1]


@contextlib.contextmanager
def _file_for_folder(machine: Machine) -> Iterator[None]:
    shutil.rmtree(machine.data)
    machine.data.write_text("not a folder")
    yield
    machine.data.unlink()


def _sessions(machine: Machine) -> list[list[str]]:
    """The contents of each session, the oldest first."""
    rows = json.loads(machine.mem("sessions", "--json"))["sessions"]
    keys = [row["key"] for row in sorted(rows, key=lambda row: row["created_at"])]
    shown = [json.loads(machine.mem("sessions", "show", key, "--json"))["messages"] for key in keys]
    return [
        [message["content"] for message in messages if message["role"] in ("user", "assistant")] for messages in shown
    ]


def _import_everything(machine: Machine, assistant: Assistant) -> None:
    report = json.loads(machine.mem("import", "--json", *(str(machine.home / path) for path in assistant.histories)))
    # Gemini CLI removes a chat now and then; what is there is known.
    assert report["messages_new"] == 0 and report["messages_known"] >= 2, report
