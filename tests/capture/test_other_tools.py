"""The folders of other assistants, as they lie on a disk: imported once, whatever else is beside the sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from catmem.domain.session import SessionRef
from tests.capture.world import PROJECT, World
from tests.clients.gemini_cli.test_history import HEAD, log, said
from tests.clients.opencode.test_history import Store, message, text
from tests.clients.rollout import ID, Rollout

PARENT = "0199aaaa-0000-7000-8000-000000000001"
AGENT = "0199aaaa-0000-7000-8000-00000000a6e7"


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def codex(home: Path) -> Path:
    """A session with its compressed twin, an archived one, a fork of that, and a subagent."""
    plain = Rollout().asked("茶壶").says("teapot").write(home / "sessions/2026/04/01")
    plain.with_name(plain.name + ".zst").write_bytes(zstandard.compress(plain.read_bytes()))
    parent = Rollout(PARENT).turn("t1").context("one").typed("one").says("1")
    archived = parent.write(home / "archived_sessions")
    archived.with_name(archived.name + ".zst").write_bytes(zstandard.compress(archived.read_bytes()))
    archived.unlink()
    fork = Rollout("0199aaaa-0000-7000-8000-00000000f04c", 2, forked_from_id=PARENT)
    fork.turn("t1").context("one").typed("one").says("1").turn("t2").context("two").typed("two").says("2")
    fork.write(home / "sessions/2026/04/02")
    agent = Rollout(AGENT, source={"subagent": "review"}).turn("t").context("look for faults").says("none")
    agent.write(home / "sessions/2026/04/02")
    (home / "history.jsonl").write_text('{"session_id":"x","ts":1,"text":"茶壶"}\n')
    (home / "session_index.jsonl").write_text(json.dumps({"id": ID, "thread_name": "Kettles"}) + "\n")
    return home


def gemini(home: Path) -> Path:
    """A chat, a subagent's, and what else lies there."""
    project = home / "tmp" / "kettle"
    log(project / "chats", said("u", "user", "几点？"), said("a", "gemini", "7"), {"$set": {"lastUpdated": "x"}})
    log(project / "chats" / "g1", said("u", "user", "find it"), head={**HEAD, "sessionId": "sub", "kind": "subagent"})
    (project / "logs.json").write_text(json.dumps([{"sessionId": "g1", "type": "user", "message": "几点？"}]))
    (home / "settings.json").write_text("{}")
    return home


def opencode(folder: Path) -> Path:
    """A session in both stores, one in each, and a child."""
    store = Store(folder).create()
    store.session("ses_1").says("ses_1", message("msg_1", "user"), text("prt_1", "now"))
    store.session("ses_2", parent="ses_1").says("ses_2", message("msg_2", "user"), text("prt_2", "find it"))
    store.file("ses_1", message("msg_1", "user"), text("prt_1", "before"))
    store.file("ses_0", message("msg_0", "user"), text("prt_0", "old"))
    return folder


@pytest.mark.parametrize(
    ("tool", "make", "told"),
    [
        ("codex", codex, ["1", "2", "one", "teapot", "two", "茶壶"]),
        ("gemini", gemini, ["7", "几点？"]),
        ("opencode", opencode, ["now", "old"]),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_a_folder_is_imported_once(
    world: World, tmp_path: Path, tool: str, make: Callable[[Path], Path], told: list[str], named: bool
) -> None:
    folder = make(tmp_path / tool)
    source = tool if named else "auto"
    foreseen = world.imported(folder, source=source, dry_run=True)
    report = world.imported(folder, source=source)
    assert report.problems == []
    assert report.messages_new == foreseen.messages_new == len(told)
    kept = [m.content for ref in report.touched for m in world.messages(ref)]
    assert sorted(kept) == told
    before = world.bytes()
    again = world.imported(folder, source=source)
    assert (again.messages_new, again.messages_known) == (0, len(told))
    assert world.bytes() == before


def test_a_session_that_went_on_is_read_on(world: World, tmp_path: Path) -> None:
    rollout = Rollout().asked("one").says("1")
    world.imported(rollout.write(tmp_path))
    path = rollout.asked("two").write(tmp_path)
    assert world.imported(path).messages_new == 1
    assert [text for _, text in world.told(SessionRef(PROJECT, f"codex:{ID}"))] == ["one", "1", "two"]
