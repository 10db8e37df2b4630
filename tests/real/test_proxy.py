"""Real assistants under `mem start -- PROGRAM`: what was typed and answered is kept, the brief arrives, nothing breaks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real import assistants, programs
from tests.real.breakage import BREAKAGES, Breakage
from tests.real.calling import DONE, CallingUpstream
from tests.real.machine import Answer, Machine
from tests.real.upstream import FakeUpstream, reply_to

pytestmark = pytest.mark.slow
OUR_BLOCK = re.compile(r"<catmem-memory\b.*?</catmem-memory>", re.DOTALL)

SAID = "Remember: in this repository we always use pnpm as the package manager. 记住：包管理器用 pnpm。"
ASKED = "Which package manager should I use to add a dependency?"


class Way:
    """How an assistant is run under a proxy: words for a new session and for going on, and its own variables."""

    def __init__(self, program: Path, new: tuple[str, ...], again: tuple[str, ...], client: str) -> None:
        self.program, self.new, self.again, self.client = program, new, again, client
        self.base: assistants.Assistant | None = None

    def ask(
        self, machine: Machine, prompt: str, *, again: bool = False, before: str = "", pure: bool = False
    ) -> Answer:
        more = {
            "OPENAI_BASE_URL": f"{machine.upstream.url}/v1",
            "CODEX_API_KEY": "sk-test-dummy",
            **(self.base.prepare(machine) if self.base else {}),
        }
        words = [*(self.again if again else self.new)]
        on_stdin = self.base is not None and self.base.on_stdin
        command = [str(self.program), *words, *([] if on_stdin else [prompt])]
        started = [str(machine.installation.program), "start", *(["--pure"] if pure else []), "--", *command]
        return machine.run(started, before=before, more=more, stdin=prompt if on_stdin else "")


def _way_of(base: assistants.Assistant) -> Way:
    way = Way(base.program, base.new, base.again, base.name)
    way.base = base
    return way


CODEX_EXEC = ("exec", "--skip-git-repo-check", "-m", "gpt-5")
CLAUDE = Way(programs.CLAUDE_CODE, ("-p",), ("--continue", "-p"), "claude-code")
WAYS = [
    pytest.param(CLAUDE, id="claude-code", marks=pytest.mark.real("claude-code")),
    pytest.param(
        Way(programs.CLAUDE_CODE, ("--bare", "-p"), ("--bare", "--continue", "-p"), "claude-code"),
        id="claude-code-bare",
        marks=pytest.mark.real("claude-code"),
    ),
    pytest.param(
        Way(programs.CODEX, CODEX_EXEC, (*CODEX_EXEC, "resume", "--last"), "codex"),
        id="codex-built-in-provider",
        marks=pytest.mark.real("codex"),
    ),
    pytest.param(_way_of(assistants.CODEX), id="codex-own-provider", marks=pytest.mark.real("codex")),
    pytest.param(_way_of(assistants.OPENCODE), id="opencode", marks=pytest.mark.real("opencode")),
    pytest.param(_way_of(assistants.GEMINI), id="gemini", marks=pytest.mark.real("gemini")),
]


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    with FakeUpstream() as upstream:
        yield Machine(tmp_path, upstream)


def sessions(machine: Machine) -> list[list[tuple[str, str]]]:
    """Every session's messages, the oldest session first."""
    rows = json.loads(machine.mem("sessions", "--json"))["sessions"]
    rows.sort(key=lambda row: row["created_at"])
    return [spoken(machine, row["key"]) for row in rows]


def spoken(machine: Machine, key: str) -> list[tuple[str, str]]:
    shown: dict[str, Any] = json.loads(machine.mem("sessions", "show", key, "--json"))
    return [(message["role"], message["content"]) for message in shown["messages"]]


@pytest.mark.parametrize("way", WAYS)
def test_turns_are_kept_and_the_second_session_knows_the_first(machine: Machine, way: Way) -> None:
    answer = way.ask(machine, SAID)
    assert (answer.code, answer.said.splitlines()[-1:]) == (0, [reply_to(SAID)]), answer.stderr
    assert machine.left_running() == []
    answer = way.ask(machine, ASKED)
    assert (answer.code, answer.said.splitlines()[-1:]) == (0, [reply_to(ASKED)]), answer.stderr
    assert machine.left_running() == []

    first, second = (turn for turn in machine.upstream.turns if turn.prompt in (SAID, ASKED))
    assert OUR_BLOCK.findall(first.text) == []
    (brief,) = OUR_BLOCK.findall(second.text)
    assert "pnpm" in brief
    assert sessions(machine) == [
        [("user", SAID), ("assistant", reply_to(SAID))],
        [("user", ASKED), ("assistant", reply_to(ASKED))],
    ]
    clients = {row["metadata"]["client"] for row in json.loads(machine.mem("sessions", "--json"))["sessions"]}
    assert clients == {way.client}


@pytest.mark.parametrize("way", [param for param in WAYS if param.id != "gemini"])
def test_a_session_that_goes_on_is_one_with_one_brief(machine: Machine, way: Way) -> None:
    """Gemini CLI sends nothing that names a session, and its resumed history is another."""
    way.ask(machine, SAID)
    assert machine.left_running() == []
    way.ask(machine, "hello 你好")
    assert machine.left_running() == []
    answer = way.ask(machine, ASKED, again=True)
    assert answer.code == 0, answer.stderr
    assert machine.left_running() == []
    *_, begun, resumed = machine.upstream.turns
    assert OUR_BLOCK.findall(resumed.text) == OUR_BLOCK.findall(begun.text) != []
    assert sessions(machine)[1:] == [
        [
            ("user", "hello 你好"),
            ("assistant", reply_to("hello 你好")),
            ("user", ASKED),
            ("assistant", reply_to(ASKED)),
        ]
    ]


@pytest.mark.real("claude-code")
def test_what_claude_code_compacts_is_no_turn(machine: Machine) -> None:
    CLAUDE.ask(machine, SAID)
    CLAUDE.ask(machine, ASKED, again=True)
    asked = len(machine.upstream.requests)
    answer = CLAUDE.ask(machine, "/compact", again=True)
    assert answer.code == 0, answer.stderr
    assert len(machine.upstream.requests) > asked
    assert machine.left_running() == []
    CLAUDE.ask(machine, "and yarn?", again=True)
    assert machine.left_running() == []
    (said,) = sessions(machine)
    turns = [(prompt, reply_to(prompt)) for prompt in (SAID, ASKED, "and yarn?")]
    assert said == [message for asked, told in turns for message in (("user", asked), ("assistant", told))]


@pytest.mark.real("claude-code")
def test_hooks_and_proxy_make_one_turn_and_one_brief(machine: Machine) -> None:
    machine.install_hooks()
    CLAUDE.ask(machine, SAID)
    assert machine.left_running() == []
    CLAUDE.ask(machine, ASKED)
    assert machine.left_running() == []
    second = machine.upstream.turns[-1]
    assert len(OUR_BLOCK.findall(second.text)) == 1
    assert sessions(machine) == [
        [("user", SAID), ("assistant", reply_to(SAID))],
        [("user", ASKED), ("assistant", reply_to(ASKED))],
    ]


@pytest.mark.parametrize(
    ("way", "folder"),
    [
        pytest.param(CLAUDE, ".claude/projects", id="claude-code", marks=pytest.mark.real("claude-code")),
        pytest.param(_way_of(assistants.CODEX), ".codex/sessions", id="codex", marks=pytest.mark.real("codex")),
        pytest.param(
            _way_of(assistants.OPENCODE), ".local/share/opencode", id="opencode", marks=pytest.mark.real("opencode")
        ),
    ],
)
def test_a_transcript_that_is_imported_later_adds_nothing(machine: Machine, way: Way, folder: str) -> None:
    way.ask(machine, SAID)
    way.ask(machine, ASKED, again=True)
    assert machine.left_running() == []
    before = sessions(machine)
    assert len(before) == 1 and len(before[0]) == 4
    taken = json.loads(machine.mem("import", str(machine.home / folder), "--json"))
    assert taken["messages_new"] == 0, taken
    assert sessions(machine) == before


@pytest.mark.real("claude-code")
def test_a_pure_run_leaves_nothing_behind(machine: Machine) -> None:
    CLAUDE.ask(machine, SAID)
    assert machine.left_running() == []
    before = sessions(machine)
    answer = CLAUDE.ask(machine, ASKED, pure=True)
    assert (answer.code, answer.said) == (0, reply_to(ASKED))
    assert OUR_BLOCK.findall(machine.upstream.turns[-1].text) == []
    machine.mem("import", str(machine.home / ".claude" / "projects"))
    assert sessions(machine) == before


BROKEN = [
    pytest.param(
        breakage,
        marks=[pytest.mark.real("mount-namespace")] if breakage.mount else [],
        id=breakage.name.replace(" ", "-"),
    )
    for breakage in BREAKAGES
    if not breakage.of_the_program
]


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a first session left."""
    with FakeUpstream() as upstream:
        machine = Machine(tmp_path_factory.mktemp("known"), upstream)
        machine.mem("init")
        CLAUDE.ask(machine, SAID)
        assert machine.left_running() == []
        machine.mem("work")
        assert sessions(machine)
        return machine.data


@pytest.mark.real("claude-code")
@pytest.mark.parametrize("breakage", BROKEN)
def test_a_broken_memory_leaves_the_turn_unharmed(machine: Machine, known: Path, breakage: Breakage) -> None:
    machine.begin_with(known)
    mount = breakage.mount(machine) if breakage.mount else ""
    with breakage.apply(machine):
        answer = CLAUDE.ask(machine, ASKED, before=mount)
        left = machine.left_running()
    assert (answer.code, answer.said) == (0, reply_to(ASKED)), answer.stderr
    assert machine.upstream.turns[-1].prompt == ASKED
    assert left == []


@pytest.mark.parametrize("way", [param for param in WAYS[1:] if param.id != "codex-built-in-provider"])
def test_every_assistant_works_on_without_a_data_directory(machine: Machine, way: Way) -> None:
    """Codex's built-in provider asks the world outside then, as it does without us, and there is none here."""
    machine.data.write_text("a file where the directory should be")
    answer = way.ask(machine, ASKED)
    assert (answer.code, answer.said.splitlines()[-1:]) == (0, [reply_to(ASKED)]), answer.stderr
    assert "no memory in this session" in answer.stderr
    assert machine.left_running() == []


CALLS = [
    pytest.param(CLAUDE, ("Read", {"file_path": "README.md"}), ".claude/projects", id="claude-code", marks=pytest.mark.real("claude-code")),
    pytest.param(_way_of(assistants.CODEX), ("exec_command", {"cmd": "cat README.md"}), ".codex/sessions", id="codex", marks=pytest.mark.real("codex")),
    pytest.param(_way_of(assistants.OPENCODE), ("read", {"filePath": "README.md"}), ".local/share/opencode", id="opencode", marks=pytest.mark.real("opencode")),
    pytest.param(_way_of(assistants.GEMINI), ("read_file", {"file_path": "README.md"}), ".gemini/tmp", id="gemini", marks=pytest.mark.real("gemini")),
]  # fmt: skip


@pytest.mark.parametrize(("way", "call", "folder"), CALLS)
def test_a_turn_with_a_tool_is_one_turn_by_either_door(
    tmp_path: Path, way: Way, call: tuple[str, dict[str, Any]], folder: str
) -> None:
    name, arguments = call
    with CallingUpstream([(name, arguments)], prefix="") as upstream:
        machine = Machine(tmp_path, upstream)
        for key in ("file_path", "filePath"):
            if key in arguments:
                arguments = {key: str(machine.workspace / "README.md")}
        upstream.calls = [(name, arguments)]
        answer = way.ask(machine, "what does the README say?")
        assert (answer.code, answer.said.splitlines()[-1:]) == (0, [DONE]), answer.stderr
        assert machine.left_running() == []
        (key,) = [row["key"] for row in json.loads(machine.mem("sessions", "--json"))["sessions"]]
        before = json.loads(machine.mem("sessions", "show", key, "--json"))["messages"]
        assert [message["role"] for message in before] == ["user", "assistant", "tool", "assistant"]
        assert [made["name"] for made in before[1]["toolCalls"]] == [name]
        assert "shop" in before[2]["content"]
        assert before[3]["content"] == DONE
        if way.client != "gemini":
            taken = json.loads(machine.mem("import", str(machine.home / folder), "--json"))
            assert taken["messages_new"] == 0, json.loads(machine.mem("sessions", "show", key, "--json"))["messages"]


@pytest.mark.real("gemini")
def test_hooks_and_proxy_make_one_turn_though_gemini_names_no_session(machine: Machine) -> None:
    way = _way_of(assistants.GEMINI)
    assistants.GEMINI.prepare(machine)
    machine.mem("install", "gemini")
    answer = way.ask(machine, SAID)
    assert answer.code == 0, answer.stderr
    assert machine.left_running() == []
    way.ask(machine, ASKED)
    assert machine.left_running() == []
    assert sessions(machine) == [
        [("user", SAID), ("assistant", reply_to(SAID))],
        [("user", ASKED), ("assistant", reply_to(ASKED))],
    ]
    # As Gemini CLI spells what a hook tells it.
    told = machine.upstream.turns[-1].text
    assert (told.count("/catmem-memory&gt;"), told.count("</catmem-memory>")) == (1, 0)
