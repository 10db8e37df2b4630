"""What holds for every tool: pure mode, the user's language, settings and faults."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from catmem.domain.words import word
from catmem.mcp.tools import TOOLS
from catmem.sessions.pure import set_pure
from tests.mcp.world import CHINESE, ENGLISH, KEY, World


def _everything(world: World) -> list[str]:
    arguments = {"recall": {"query": "pnpm"}, "remember": {"text": ENGLISH}, "forget": {"words": "pnpm"}}
    more = {"read_session": {"session": KEY}, "explain": {"id": "m0123"}}
    return [world.call(tool.name, **{**arguments, **more}.get(tool.name, {})) for tool in TOOLS]


@pytest.mark.parametrize("how", ["variable", "mark", "helper"])
def test_in_pure_mode_nothing_comes_in_or_out(world: World, how: str) -> None:
    world.saved(ENGLISH)
    world.said(ENGLISH)
    if how == "mark":
        set_pure(str(world.data), KEY)
    else:
        world.toolbox = world.tools({**world.environment, "CATMEM_PURE" if how == "variable" else "CATMEM_HELPER": "1"})
    before = _files(world.data)
    assert {answer.partition(":")[0] for answer in _everything(world)} == {"Pure mode"}
    assert _files(world.data) == before


def _files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_answers_come_in_the_users_language(world_in: Callable[[str], World]) -> None:
    world = world_in("zh")
    world.said(CHINESE)
    assert "已按用户原话记住" in world.call("remember", text=CHINESE)
    (memory,) = world.memories()
    assert word("note", "zh") in world.call("recall", query="smoketest")
    assert "出自" in world.call("explain", id=memory.id)
    assert "尚未作任何改动" in world.call("forget", words="smoketest")
    assert "会话到此结束" in world.call("read_session", session=KEY)
    assert "本次会话" in world.call("list_sessions")
    assert "项目" in world.call("recall", query="kubernetes")
    assert "需要参数" in world.fail("recall")


def test_settings_that_are_changed_meanwhile_hold(world: World) -> None:
    world.saved("the frontend of billing runs on port 9000", project="billing-1a2b3c4d")
    assert "9000" not in world.call("recall", query="port")
    (world.data / "config.yaml").write_text("project_scope_enabled: false\n")
    assert "9000" in world.call("recall", query="port")


def test_a_fault_is_an_answer(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(asked: object) -> str:
        raise ZeroDivisionError("what was said")

    monkeypatch.setattr("catmem.mcp.recall.recall", broken)
    answer = world.fail("recall", query="port")
    assert "ZeroDivisionError" in answer and "mem doctor" in answer
    assert capsys.readouterr().out == "", "stdout belongs to the protocol"


def test_settings_that_cannot_be_read_are_explained(world: World) -> None:
    (world.data / "config.yaml").write_text("max_recall_items: many\n")
    assert "max_recall_items" in world.fail("recall", query="port")
