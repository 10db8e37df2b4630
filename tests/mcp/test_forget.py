"""The tool `forget`: nothing goes before it was shown."""

from __future__ import annotations

import re

from tests.mcp.world import ENGLISH, KEY, World


def test_forget_shows_what_would_go_and_does_it_only_with_the_token(world: World) -> None:
    world.said(ENGLISH)
    world.call("remember", text=ENGLISH)
    (memory,) = world.memories()
    shown = world.call("forget", ids=[memory.id])
    assert memory.id in shown and ENGLISH in shown and KEY in shown
    assert len(world.memories()) == 1
    token = re.search(r'token "(\w+)"', shown)
    assert token and memory.id in world.call("forget", token=token[1])
    assert world.memories() == []
    assert ENGLISH not in "".join(path.read_text() for path in (world.data / "ledger").glob("*.jsonl"))
    assert "not known" in world.fail("forget", token=token[1]), "good once"


def test_a_guessed_token_forgets_nothing(world: World) -> None:
    world.saved(ENGLISH)
    world.call("forget", words="pnpm")
    assert "not known" in world.fail("forget", token="00000000")
    assert len(world.memories()) == 1


def test_what_changed_since_it_was_shown_is_not_forgotten(world: World) -> None:
    id = world.saved(ENGLISH)
    token = re.search(r'token "(\w+)"', world.call("forget", ids=[id]))
    world.saved(ENGLISH, project=world.project, kind="convention")
    assert token and "changed" in world.fail("forget", token=token[1])
    assert len(world.memories()) == 1


def test_forget_stays_in_the_project(world: World) -> None:
    id = world.saved("the port is 9000", project="billing-1a2b3c4d")
    assert "another project" in world.fail("forget", ids=[id])
    assert "No memory fits" in world.call("forget", words="port")
    assert id in world.call("forget", ids=[id], all_projects=True)


def test_forget_wants_to_know_what(world: World) -> None:
    assert "`ids` or `words`" in world.fail("forget")
