"""The real Claude Code, with our hooks: yesterday's words stand in today's request, and nothing of ours can hurt it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real.breakage import BREAKAGES, Breakage
from tests.real.machine import HOOK_EVENTS, Machine
from tests.real.programs import CLAUDE_CODE
from tests.real.upstream import FakeUpstream, reply_to

pytestmark = [pytest.mark.slow, pytest.mark.real("claude-code")]

OUR_BLOCK = re.compile(r"<catmem-memory\b.*?</catmem-memory>", re.DOTALL)

# What is said in session 1; what is asked in session 2; the word of the first that the second must bring, once.
SAID = [
    pytest.param(
        "Remember: in this repository we always use pnpm as the package manager.",
        "Which package manager should I use to add a dependency?",
        "pnpm",
        id="english",
    ),
    pytest.param("记住：这个仓库的测试一律用 vitest 来跑。", "这个仓库的测试该用什么来跑？", "vitest", id="chinese"),
    pytest.param(
        "以后都记住：部署到 staging 之前先跑 make smoketest，这是我们的约定。",
        "deploy 到 staging 之前要先做什么？",
        "smoketest",
        id="mixed",
    ),
]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with FakeUpstream() as upstream:
        yield Machine(tmp_path, upstream)


def test_the_upstream_serves_the_assistant_without_us(machine: Machine) -> None:
    answer = machine.claude("hello 你好")
    assert (answer.code, answer.said) == (0, reply_to("hello 你好"))
    assert [turn.prompt for turn in machine.upstream.turns] == ["hello 你好"]


def test_a_hook_that_does_harm_would_be_seen(machine: Machine) -> None:
    harm = {"hooks": [{"type": "command", "command": "echo x > stray; exit 2"}]}
    settings = machine.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {event: [harm] for event in HOOK_EVENTS}}))
    before = machine.footprint()
    assert machine.claude("hello").said != reply_to("hello")
    assert machine.upstream.turns == []
    assert set(machine.footprint()) - set(before) == {"shop/stray"}


@pytest.mark.parametrize(("said", "asked", "word"), SAID)
def test_what_session_1_said_stands_in_the_request_of_session_2(
    machine: Machine, said: str, asked: str, word: str
) -> None:
    machine.install_hooks()
    assert machine.claude(said).said == reply_to(said)
    assert machine.left_running() == []
    assert machine.claude(asked).said == reply_to(asked)

    first, second = machine.upstream.turns
    assert word not in OUR_BLOCK.sub("", second.text)
    brought = OUR_BLOCK.findall(second.text)
    assert "".join(brought).count(word) == 1, brought
    assert second.prompt == asked
    assert first.headers["x-claude-code-session-id"] != second.headers["x-claude-code-session-id"]


def test_the_conversation_is_kept_word_for_word_and_our_own_words_are_not(machine: Machine) -> None:
    machine.install_hooks()
    said = "Remember: the staging database listens on port 6543. 端口是 6543。"
    machine.claude(said)
    assert machine.left_running() == []
    machine.claude("on which port does the staging database listen?", "--continue")
    assert machine.left_running() == []

    session = machine.upstream.turns[0].headers["x-claude-code-session-id"]
    assert [row["key"] for row in json.loads(machine.mem("sessions", "--json"))["sessions"]] == [
        f"claude-code:{session}"
    ]
    shown = json.loads(machine.mem("sessions", "show", f"claude-code:{session}", "--json"))["messages"]
    asked = "on which port does the staging database listen?"
    expected = [said, reply_to(said), asked, reply_to(asked)]
    assert [message["content"] for message in shown] == expected
    assert [message["role"] for message in shown] == ["user", "assistant"] * 2


def test_a_compacted_session_is_told_again_and_its_summary_is_nobodys_words(machine: Machine) -> None:
    machine.mem("recall", "--save", "The staging database is on port 5433. 端口是 5433。", "--global")
    machine.mem("work")
    machine.install_hooks()
    first, last = "Let us begin. 开始吧。", "And now? 然后呢？"
    machine.claude(first)
    assert machine.claude("/compact", "--continue").code == 0
    assert machine.claude(last, "--continue").said == reply_to(last)
    assert machine.left_running() == []

    assert machine.upstream.turns[-1].prompt == last
    assert len(OUR_BLOCK.findall(machine.upstream.turns[-1].text)) == 1
    (session,) = json.loads(machine.mem("sessions", "--json"))["sessions"]
    shown = json.loads(machine.mem("sessions", "show", session["key"], "--json"))["messages"]
    said = [message["content"] for message in shown if message["role"] == "user"]
    assert said == [first, last]


def test_a_bare_run_has_neither_hooks_nor_tools_of_ours(machine: Machine) -> None:
    machine.install_hooks()
    assert machine.claude("hello 你好", "--bare").said == reply_to("hello 你好")
    assert machine.left_running() == []
    assert not OUR_BLOCK.search(machine.upstream.turns[-1].text)
    assert json.loads(machine.mem("sessions", "--json"))["sessions"] == []


def test_a_plugin_folder_does_the_same(machine: Machine) -> None:
    plugin = str(machine.home / "memory plugin")
    machine.mem("install", "claude-code", "--plugin-dir", plugin)
    said, asked, word = (
        "Remember: we always use pnpm here. 记住：一律用 pnpm。",
        "What do we use here? 用什么？",
        "pnpm",
    )
    machine.claude(said, "--plugin-dir", plugin)
    assert machine.left_running() == []
    machine.claude(asked, "--plugin-dir", plugin)
    assert machine.left_running() == []

    second = machine.upstream.turns[1]
    assert second.prompt == asked and word not in OUR_BLOCK.sub("", second.text)
    assert len(OUR_BLOCK.findall(second.text)) == 1
    sessions = json.loads(machine.mem("sessions", "--json"))["sessions"]
    assert [row["metadata"]["count"] for row in sessions] == [2, 2]


def test_our_tools_are_registered_and_all_of_it_is_taken_out_again(machine: Machine) -> None:
    settings = machine.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"includeCoAuthoredBy": false}')
    machine.claude("hello")  # the assistant makes a .claude.json of its own
    theirs = machine.home / ".claude.json"
    known = set(json.loads(theirs.read_bytes()))
    machine.install_hooks()
    at_once = {"MCP_CONNECTION_NONBLOCKING": "0"}
    answer = machine.run([str(CLAUDE_CODE), "-p", "hello again 再来"], more=at_once)
    assert answer.said == reply_to("hello again 再来")
    offered = {tool["name"] for tool in machine.upstream.turns[-1].body["tools"]}
    assert {"mcp__catmem__recall", "mcp__catmem__remember"} <= offered
    assert machine.left_running() == []

    machine.mem("uninstall", "claude-code", "--config-dir", str(machine.home / ".claude"))
    assert settings.read_text() == '{"includeCoAuthoredBy": false}'
    kept = json.loads(theirs.read_bytes())
    assert known <= set(kept) and "catmem" not in kept.get("mcpServers", {})


BROKEN = [
    pytest.param(
        breakage,
        marks=[pytest.mark.real("mount-namespace")] if breakage.mount else [],
        id=breakage.name.replace(" ", "-"),
    )
    for breakage in BREAKAGES
]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a first session left."""
    with FakeUpstream() as upstream:
        machine = Machine(tmp_path_factory.mktemp("known"), upstream)
        machine.install_hooks()
        machine.mem("init")
        machine.claude("Remember: I prefer tabs. 记住：我习惯用制表符。")
        assert machine.left_running() == []
        machine.mem("work")
        assert "制表符" in machine.mem("brief")
        return machine.data


@pytest.mark.parametrize("breakage", BROKEN)
def test_a_broken_memory_leaves_the_turn_unharmed(machine: Machine, known: Path, breakage: Breakage) -> None:
    machine.install_hooks()
    machine.begin_with(known)
    assert "制表符" in machine.mem("brief")
    before = machine.footprint()
    mount = breakage.mount(machine) if breakage.mount else ""

    prompt = "How do I prefer to indent? 我习惯怎么缩进？"
    with breakage.apply(machine):
        answer = machine.claude(prompt, before=mount)
        left = machine.left_running()
        codes = machine.hook_codes(before=mount)
        left += machine.left_running()

    assert (answer.code, answer.said) == (0, reply_to(prompt))
    assert machine.upstream.turns[-1].prompt == prompt
    assert left == []
    assert machine.footprint() == before
    if breakage.command_gone:
        # The assistant may say that there is no such command. 2 alone would tell it to refuse the prompt.
        assert 2 not in codes.values()
    else:
        assert answer.stderr == ""
        assert set(codes.values()) == {0}, codes
