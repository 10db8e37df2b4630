from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from catmem.capture.hook import PROMPT_WAIT
from catmem.capture.spool import drain
from catmem.domain.session import SessionRef
from catmem.sessions.locks import session_lock
from catmem.sessions.names import place
from tests.capture.world import KEY, PROJECT, REF, World
from tests.clients.talk import Talk


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_prompt_is_kept_at_once(world: World) -> None:
    answer = world.prompt("茶壶叫 Amy，from now on", "p1")
    assert answer == {
        "key": KEY,
        "project": PROJECT,
        "new": [1],
        "known": 0,
        "text": "茶壶叫 Amy，from now on",
        "changes": False,
        "left": False,
    }
    assert world.told() == [("user", "茶壶叫 Amy，from now on")]
    header = next(world.history.headers())
    assert (header.metadata["client"], header.metadata["cwd"]) == ("claude-code", "/home/kim/teapot")


@pytest.mark.parametrize("prompt_id", ["p1", ""])
def test_delivered_twice_it_is_one(world: World, prompt_id: str) -> None:
    world.prompt("yes", prompt_id)
    assert world.prompt("yes", prompt_id)["known"] == 1
    assert world.told() == [("user", "yes")]


def test_said_twice_it_is_two(world: World) -> None:
    world.prompt("yes", "p1")
    world.prompt("yes", "p2")
    world.now += 60
    world.prompt("yes")
    assert world.told() == [("user", "yes")] * 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "/clear",
        "<private>只给你看</private>",
        "<task-notification>done</task-notification>",
        "[memory-helper v1] list facts",
    ],
)
def test_what_nobody_said_leaves_no_trace(world: World, text: str) -> None:
    assert world.prompt(text, "p1") == {}
    assert world.bytes() == {}


def test_what_stands_beside_the_words_is_not_kept(world: World) -> None:
    world.prompt("<ide_selection>x = 1</ide_selection>\nrename x <private>to secretname</private>please", "p1")
    world.prompt('<catmem-memory version="1">\n- port 1\n</catmem-memory>\n哪个端口？ sk_abc', "p2")
    assert world.told() == [("user", "rename x please"), ("user", "\n哪个端口？ [secret:key:0badcafe]")] or [
        content.strip() for _, content in world.told()
    ] == ["rename x please", "哪个端口？ [secret:key:0badcafe]"]
    assert b"secretname" not in b"".join(world.bytes().values())


def test_a_subagents_event_keeps_nothing(world: World) -> None:
    assert world.prompt("search the code", "p1", agent_id="a1") == {}
    assert world.hook("SubagentStop", last_assistant_message="found", agent_id="a1") == {}
    assert world.stop("found", agent_id="a1") == {}
    assert world.bytes() == {}


def test_events_without_words_keep_nothing(world: World) -> None:
    assert world.hook("SessionStart", source="startup") == {}
    assert world.hook("PostToolUse", tool_name="Bash") == {}
    world.hook("SessionEnd", reason="other")
    assert world.bytes() == {}


def test_a_session_stays_in_the_project_where_it_began(world: World) -> None:
    world.prompt("one", "p1")
    answer = world.prompt("two", "p2", project="elsewhere-00000000")
    assert answer["project"] == PROJECT
    world.hook("Stop", project="elsewhere-00000000", last_assistant_message="ok")
    assert [role for role, _ in world.told()] == ["user", "user", "assistant"]
    assert not world.history.exists(SessionRef("elsewhere-00000000", KEY))


def test_a_locked_session_does_not_lose_the_prompt(world: World) -> None:
    world.prompt("one", "p1")
    assert PROMPT_WAIT <= 0.5
    with session_lock(place(str(world.root), PROJECT, KEY).lock):
        world.prompt("我的 sk_123 and more", "p2")
    assert len(world.messages()) == 1
    spooled = b"".join(path.read_bytes() for path in world.root.rglob("*.json"))
    assert b"sk_123" not in spooled
    assert drain(str(world.root)) == 1
    assert drain(str(world.root)) == 0
    assert world.told()[1] == ("user", "我的 [secret:key:0badcafe] and more")


def test_a_huge_prompt_is_kept_with_a_note_of_the_rest(world: World) -> None:
    world.prompt("x" * 3_000_000, "p1")
    assert len(world.messages()[0].content) < 1_100_000
    assert "characters left out" in world.messages()[0].content


def test_a_prompt_met_in_the_transcript_is_one_message(world: World) -> None:
    world.prompt("rename it", "p1")
    Talk().user("u1", "rename it", promptId="p1").says("a1", "renamed").write(world.root.parent)
    answer = world.stop("renamed", "p1")
    assert world.told() == [("user", "rename it"), ("assistant", "renamed")]
    assert (answer["new"], answer["known"], answer["left"]) == ([2], 1, False)
    (mark,) = world.marks("known_as")
    assert (mark["uid"], mark["as"], mark["parent"]) == ("hook:p1", "u1", "")
    assert world.stop("renamed", "p1")["new"] == []
    assert len(world.messages()) == 2


def test_the_hot_path_loads_nothing_heavy() -> None:
    heavy = [
        "dataclasses",
        "typing",
        "re",
        "sqlite3",
        "subprocess",
        "pathlib",
        "catmem.sessions.history",
        "catmem.clients.lines",
    ]
    code = "import sys; before = set(sys.modules); import catmem.capture.hook, catmem.clients.claude_code.event, catmem.clients.claude_code.reply; print(*(set(sys.modules) - before))"
    loaded = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(Path(__file__).parents[2] / "src")},
    )
    assert not {name for name in heavy if name in loaded.stdout.split()} - {"re"}


def test_ref_of_the_world_is_the_hooks(world: World) -> None:
    world.prompt("x", "p1")
    assert next(world.history.headers()).ref == REF
