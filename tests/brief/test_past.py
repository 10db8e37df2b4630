"""A question about the past brings what was superseded, marked as past; nothing else does."""

from __future__ import annotations

from pathlib import Path

import pytest

from catmem.brief.briefer import Briefer
from catmem.domain.clock import seconds_of
from catmem.settings.schema import Settings
from tests.index.world import World

MARCH, APRIL, MAY = (f"2026-0{month}-01T10:00:00.000Z" for month in (3, 4, 5))


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    for database, at in (("MySQL", MARCH), ("Postgres", APRIL)):
        world.learn(
            f"The database of orders is {database}", object=database, subject="orders", predicate="are in",
            kind="environment", at=at,
        )  # fmt: skip
    return world


def lines(world: World, prompt: str, *, language: str = "en", session_start: bool = False) -> list[str]:
    world.catch_up()
    briefer = Briefer(world.paths, Settings(language=language), lambda: seconds_of("2026-06-01T10:00:00.000Z"))
    brief = briefer.brief("shop", prompt) if session_start else briefer.for_prompt(prompt, "shop")
    return [line for line in brief.text.split("\n") if line.startswith("- ")]


NOW = "- The database of orders is Postgres"
THEN = (
    "- (no longer so; it was from 2026-03-01 to 2026-04-01) The database of orders is MySQL"
    " -> now: The database of orders is Postgres"
)


@pytest.mark.parametrize(
    "prompt",
    [
        "which database of orders did we use before?",
        "之前的 orders 数据库是什么？",
        "why did we drop the old orders database",
    ],
)
def test_a_question_about_the_past_is_answered_below_what_holds(world: World, prompt: str) -> None:
    assert lines(world, prompt) == [NOW, THEN]


def test_so_is_one_that_begins_a_session(world: World) -> None:
    assert lines(world, "which database of orders did we use before?", session_start=True) == [NOW, THEN]


def test_in_the_users_language(world: World) -> None:
    (_, then) = lines(world, "之前的 orders 数据库是什么？", language="zh")
    assert then == (
        "- （已不再如此；2026-03-01 至 2026-04-01 期间）The database of orders is MySQL"
        " -> 现在：The database of orders is Postgres"
    )


@pytest.mark.parametrize(
    "prompt", ["which database has the orders?", "orders 的数据库是什么", "query the MySQL database of orders"]
)
def test_no_other_prompt_brings_it(world: World, prompt: str) -> None:
    assert lines(world, prompt) == [NOW]


def test_what_replaced_it_is_followed_to_what_holds_today(world: World) -> None:
    world.learn("The database of orders is Mongo", object="Mongo", subject="orders", predicate="are in",
                kind="environment", at=MAY)  # fmt: skip
    told = lines(world, "which database of orders did we use before?")
    assert told[0] == "- The database of orders is Mongo"
    assert {line.split(") ", 1)[1] for line in told[1:]} == {
        f"The database of orders is {old} -> now: The database of orders is Mongo" for old in ("MySQL", "Postgres")
    }


def test_what_was_only_worded_anew_is_not_past(world: World) -> None:
    for text, at in (("Indent with tabs", MARCH), ("缩进用 tab", APRIL)):
        world.learn(text, object=text, subject="indentation", predicate="uses", at=at)
    assert lines(world, "how did we use to indent, 缩进?") == ["- 缩进用 tab"]
