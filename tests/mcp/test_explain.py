"""The tool `explain`: where a memory comes from, and what it was."""

from __future__ import annotations

from tests.mcp.world import ENGLISH, KEY, World


def test_explain_tells_where_a_memory_comes_from(world: World) -> None:
    world.said(ENGLISH)
    world.call("remember", text=ENGLISH)
    (memory,) = world.memories()
    answer = world.call("explain", id=memory.id)
    assert f'said in {KEY} #1, 2026-07-01: "{ENGLISH}"' in answer
    assert "by the user: asked for through an assistant" in answer and "pinned" in answer


def test_explain_tells_what_it_was_before(world: World) -> None:
    id = world.saved(ENGLISH)
    world.saved(ENGLISH, kind="convention")
    answer = world.call("explain", id=id)
    assert "superseded" in answer and "in force" in answer and answer.index("in force") < answer.index("superseded")


def test_explain_stays_in_the_project(world: World) -> None:
    id = world.saved("the port is 9000", project="billing-1a2b3c4d")
    assert "another project" in world.fail("explain", id=id)
    assert "9000" in world.call("explain", id=id, all_projects=True)
