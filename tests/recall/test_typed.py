"""Phrases, words to leave out, and what a search has of the past."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.recall.recall import FACTORS, Recaller
from catmem.recall.typed import typed
from catmem.settings.schema import Settings
from tests.index.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def found(world: World, query: str, **how: bool) -> list[str]:
    world.catch_up()
    return [item["text"] for item in Recaller(world.paths, Settings()).recall(query, project="shop", **how)["items"]]


def test_a_phrase_must_stand_as_it_is_unless_no_text_has_it(world: World) -> None:
    world.learn("The cache server is in Lyon")
    world.learn("The server has a cache of 2 GB")
    assert found(world, '"cache server"') == ["The cache server is in Lyon"]
    assert found(world, "“CACHE   server”") == ["The cache server is in Lyon"]
    assert len(found(world, '"server cache"')) == len(found(world, "server cache")) == 2


def test_a_word_with_a_minus_is_left_out(world: World) -> None:
    world.learn("部署走 Argo CD")
    world.learn("部署脚本在 tools 目录")
    assert found(world, "部署 -脚本") == ["部署走 Argo CD"]
    assert found(world, "部署 -argo") == ["部署脚本在 tools 目录"]
    assert len(found(world, "部署 -argo", searched=False)) == 2  # a prompt is no search


def test_a_line_that_was_copied_finds_where_it_stands(world: World) -> None:
    world.learn("Run `grep -rn foo -bar` in src")
    world.learn("foo is slow")
    world.learn("foo beside bar")
    assert set(found(world, "foo -bar")) == {"Run `grep -rn foo -bar` in src", "foo is slow"}


@pytest.mark.parametrize("query", ["pytest -q", "sync-ledger", "a -- b", "well-known", "ls --all", "x -5"])
def test_options_and_hyphens_leave_nothing_out(query: str) -> None:
    assert typed(query).without == ()


@given(st.text())
def test_any_text_is_safe(text: str) -> None:
    read = typed(text)
    assert all(read.phrases) and all(read.without)


def test_what_was_superseded_shows_only_to_a_question_about_the_past(world: World) -> None:
    for database, at in (("MySQL", "2026-03-01T10:00:00.000Z"), ("Postgres", "2026-04-01T10:00:00.000Z")):
        world.learn(
            f"The database is {database}", object=database, predicate="uses", subject="database",
            kind="environment", at=at,
        )  # fmt: skip
    assert found(world, "which database do we use") == ["The database is Postgres"]
    assert found(world, "which database did we use before?") == ["The database is Postgres", "The database is MySQL"]


def test_each_item_tells_its_numbers_when_asked(world: World) -> None:
    world.learn("The cache server is in Lyon")
    world.catch_up()
    recaller = Recaller(world.paths, Settings())
    (item,) = recaller.recall("cache server", project="shop", explain=True)["items"]
    assert set(item["explain"]) == set(FACTORS)
    assert 0 < item["explain"]["relevance"] <= 1
    assert "explain" not in recaller.recall("cache server", project="shop")["items"][0]
