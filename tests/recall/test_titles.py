"""Conversations are found by what they are called: below memories that have every word, above what was merely said."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from catmem.domain.session import SessionHeader
from catmem.recall.recall import Recaller
from catmem.recall.search import Searcher
from catmem.recall.turns import Talks
from catmem.settings.schema import Settings
from tests.index.world import FakeHistory, World


class Titled(FakeHistory):
    """Sessions of which some are called something."""

    def __init__(self) -> None:
        super().__init__()
        self.titles: dict[str, str] = {}

    def headers(self, project: str | None = None) -> Iterator[SessionHeader]:
        for header in super().headers(project):
            yield dataclasses.replace(header, title=self.titles.get(header.key, ""))


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.history = Titled()
    world.history.titles = {"s1": "Kettle rollout 水壶上线", "s2": "Kettle rollout 水壶上线", "s3": "Tea"}
    for key in ("s1", "s2", "s3"):
        world.history.say("shop", key, ("user", f"look at {key}"), ("assistant", "The kettle waits for its rollout."))
    world.catch_up()
    return world


def found(world: World, query: str, **how: object) -> list[tuple[str, str]]:
    talks = Talks(world.history.talk, frozenset)
    items = Recaller(world.paths, Settings(language="en"), talks=talks).recall(query, project="shop", **how)["items"]  # type: ignore[arg-type]
    assert [item["score"] for item in items] == sorted((item["score"] for item in items), reverse=True)
    return [(item["kind"], item["session"]) for item in items]


def test_both_that_are_called_so_are_found_with_how_they_began(world: World) -> None:
    assert found(world, "水壶上线")[:2] in ([("title", "s1"), ("title", "s2")], [("title", "s2"), ("title", "s1")])
    talks = Talks(world.history.talk, frozenset)
    item = Recaller(world.paths, Settings(language="en"), talks=talks).recall("水壶上线", project="shop")["items"][0]
    assert item["turn"]["asked"].startswith("look at") and "what a conversation is called" in item["why"]


def test_a_title_without_one_of_the_words_is_none(world: World) -> None:
    assert ("title", "s3") not in found(world, "tea rollout") and ("title", "s3") in found(world, "tea")


def test_a_memory_that_has_every_word_stands_above(world: World) -> None:
    world.learn("The kettle rollout is on Monday", sessions=("s9",))
    world.learn("A kettle is warm", sessions=("s9",))
    world.catch_up()
    kinds = [kind for kind, _ in found(world, "kettle rollout")]
    assert kinds[:3] == ["convention", "title", "title"] and set(kinds[3:]) <= {"assistant", "convention"}


def test_who_asks_for_a_kind_or_types_a_prompt_gets_no_titles(world: World) -> None:
    assert found(world, "水壶上线", kind="note") == []
    assert "title" not in dict(found(world, "水壶上线", searched=False))


def test_a_title_that_changes_is_found_by_its_new_words(world: World) -> None:
    assert isinstance(world.history, Titled)
    world.history.titles["s3"] = "Coffee"
    world.history.say("shop", "s3", ("user", "go on"))
    world.catch_up()
    assert found(world, "coffee") == [("title", "s3")] and found(world, "tea") == []


def test_alike_titles_are_two_for_a_search_as_well(world: World) -> None:
    items = Searcher(world.paths, Settings()).search("水壶上线", project="shop")["items"]
    assert sorted(item["session"] for item in items) == ["s1", "s2"]
