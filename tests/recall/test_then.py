"""Times in a question: a search is bounded by them, a brief weighs them, and neither hides the answer for them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from catmem.brief.briefer import Briefer
from catmem.domain.clock import stamp
from catmem.recall.recall import Recall, Recaller
from catmem.settings.schema import Settings
from tests.index.world import World
from tests.recall.zones import zone

NOON = datetime(2026, 4, 15, 12)  # a Wednesday


def at(month: int, day: int) -> str:
    return stamp(datetime(2026, month, day, 9).astimezone().timestamp())


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.learn("The deploy of shop waits for a green build", at=at(1, 5), sessions=("s1",))
    world.learn("部署改到周三下午", kind="decision", at=at(4, 14), sessions=("s2",))
    world.learn("The parser is half done", kind="progress", at=at(4, 14), sessions=("s2",))
    world.learn("The deploy script prints its version", at=at(4, 8), sessions=("s3",))
    return world


def now() -> float:
    return NOON.astimezone().timestamp()


def recall(world: World, query: str) -> Recall:
    world.catch_up()
    return Recaller(world.paths, Settings(language="en"), now).recall(query, project="shop", read_days=True)


def texts(found: Recall) -> list[str]:
    return [item["text"] for item in found["items"]]


def beside(world: World, prompt: str) -> list[str]:
    world.catch_up()
    brief = Briefer(world.paths, Settings(language="en"), now).for_prompt(prompt, "shop")
    return [line.split(") ", 1)[-1].removeprefix("- ") for line in brief.text.split("\n") if line.startswith("- ")]


@pytest.mark.parametrize("place", ["UTC", "Asia/Shanghai", "America/New_York"])
@pytest.mark.parametrize("query", ["the deploy yesterday", "昨天说的部署"])
def test_a_search_is_bounded(tmp_path: Path, place: str, query: str) -> None:
    with zone(place):
        world = World(tmp_path)
        world.learn("The deploy waits for a green build", at=at(1, 5), sessions=("s1",))
        world.learn("部署改到周三下午", at=at(4, 14), sessions=("s2",))
        assert texts(recall(world, query)) == ["部署改到周三下午"]


def test_a_search_that_finds_nothing_of_that_day_looks_at_all_days_and_says_so(world: World) -> None:
    found = recall(world, "what about the parser last month")
    assert texts(found) == ["The parser is half done"] and found["period"].get("missed")
    assert "missed" not in recall(world, "the deploy yesterday")["period"]
    assert "missed" not in recall(world, "zebra yesterday")["period"]


@pytest.mark.parametrize(
    "query", ["what did we do yesterday?", "昨天做了什么", "what did we decide yesterday", "yesterday", "昨天"]
)
def test_who_asks_for_a_day_gets_what_was_said_on_it(world: World, query: str) -> None:
    found = recall(world, query)
    assert set(texts(found)) == {"部署改到周三下午", "The parser is half done"}
    assert {item["why"] for item in found["items"]} == {"said in that time"}


@pytest.mark.parametrize("prompt", ["what did we do yesterday?", "昨天做到哪了？", "what did we decide yesterday?"])
def test_so_does_a_prompt_that_asks(world: World, prompt: str) -> None:
    assert set(beside(world, prompt)) == {"部署改到周三下午", "The parser is half done"}


@pytest.mark.parametrize(
    "prompt",
    [
        "thanks, that's all for today",
        "let's stop for today",
        "今天先到这里吧",
        "how are you today?",
        "今天辛苦了",
        "昨天谢谢你",
    ],
)
def test_a_prompt_that_only_names_a_day_gets_nothing(world: World, prompt: str) -> None:
    world.learn("Today's rule is new", at=stamp(now()), sessions=("s9",))
    assert beside(world, prompt) == []


def test_a_brief_weighs_the_time_and_keeps_what_still_holds(world: World) -> None:
    """The deploy that failed last week goes by the rule of January."""
    said = beside(world, "the deploy of last week failed, have a look at the deploy")
    assert said[0] == "The deploy script prints its version"
    assert "The deploy of shop waits for a green build" in said


def test_a_named_month_asks_for_what_held_then(tmp_path: Path) -> None:
    world = World(tmp_path)
    for host, day in (("Hetzner", at(1, 5)), ("Scaleway", at(4, 2))):
        world.learn(f"The runner is hosted at {host}", object=host, subject="runner", predicate="is at", at=day)
    assert texts(recall(world, "where was the runner hosted last month?")) == [
        "The runner is hosted at Scaleway", "The runner is hosted at Hetzner",
    ]  # fmt: skip
    assert len(beside(world, "where was the runner hosted in January?")) == 2
    assert len(beside(world, "where is the runner hosted?")) == 1
