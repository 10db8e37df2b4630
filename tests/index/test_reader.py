"""Asking the index: exact, safe with any term, cheap to import, and errors in our own terms."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.domain.errors import DataDamaged, NotFound
from catmem.index import layout
from catmem.index import opened as opening
from catmem.index.documents import Record
from catmem.index.reader import SearchReader
from catmem.index.scope import Scope
from tests.index.world import World

# What a hook must not pay for: each costs it milliseconds, and some more than its whole budget.
DEAR = ("dataclasses", "typing", "inspect", "sqlite3", "subprocess", "asyncio", "pathlib", "logging", "yaml", "click")


def test_the_hot_path_imports_nothing_dear() -> None:
    code = "import catmem.brief.brief, catmem.index.reader, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    bare = subprocess.run(
        [sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    new = set(loaded.stdout.split()) - set(bare.stdout.split())
    assert "tantivy" in new
    assert new & set(DEAR) == set()


def test_without_an_index_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        SearchReader(str(tmp_path)).search([("zebra", 1.0)])
    assert "mem work" in caught.value.said("en") and "索引" in caught.value.said("zh")


def test_a_reader_sees_the_moment_of_its_opening_until_it_is_refreshed(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.learn("zebra one")
    world.catch_up()
    reader = world.index.reader()
    assert len(reader.search([("zebra", 1.0)])) == 1
    world.learn("zebra two")
    world.catch_up()
    assert len(reader.search([("zebra", 1.0)])) == 1
    reader.refresh()
    assert len(reader.search([("zebra", 1.0)])) == 2


def test_what_did_not_change_is_not_opened_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    world.learn("zebra one")
    world.history.say("shop", "s1", ("user", "zebra said"))
    world.catch_up()
    reader = world.index.reader()
    assert len(reader.search([("zebra", 1.0)])) == 2
    opened: list[str] = []
    really = opening._open
    monkeypatch.setattr(opening, "_open", lambda folder: (opened.append(Path(folder).name), really(folder))[1])
    reader.refresh()
    assert len(reader.search([("zebra", 1.0)])) == 2 and opened == []
    world.learn("zebra two")
    world.catch_up()
    opened.clear()
    reader.refresh()
    assert len(reader.search([("zebra", 1.0)])) == 3 and opened == [layout.MEMORIES]


def test_a_file_that_was_cut_short_is_not_read_as_it_was(tmp_path: Path) -> None:
    """Reading the map of a file beyond its end would end the process."""
    world = World(tmp_path)
    world.learn("zebra one")
    world.catch_up()
    reader = world.index.reader()
    assert len(reader.search([("zebra", 1.0)])) == 1
    for file in Path(layout.part_folder(str(world.paths.search), layout.MEMORIES)).glob("*.store"):
        os.truncate(file, 0)
    reader.refresh()
    with pytest.raises(DataDamaged):
        reader.search([("zebra", 1.0)])


def test_the_newest_come_in_order_and_without_what_was_superseded(tmp_path: Path) -> None:
    world = World(tmp_path)
    for day in (3, 1, 2):
        world.learn(f"decided on day {day}", kind="decision", at=f"2026-03-0{day}T10:00:00.000Z")
    runner = {"subject": "runner", "predicate": "uses", "kind": "decision"}
    world.learn("we use pytest", object="pytest", **runner)
    world.learn("we use nose2", object="nose2", at="2026-03-09T10:00:00.000Z", sessions=("s2",), **runner)
    world.learn("decided elsewhere", kind="decision", project="bank")
    world.learn("a note", kind="note")
    world.catch_up()
    newest = world.index.reader().newest(project="shop", kinds=("decision",), limit=3)
    assert [record["text"] for record in newest] == ["we use nose2", "decided on day 3", "decided on day 2"]


WORDS = ["zebra", "okapi", "部署", "测试", "deploy", "8443"]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> SearchReader:
    world = World(tmp_path_factory.mktemp("full"))
    for number in range(90):
        world.learn(" ".join(WORDS[(number * step) % len(WORDS)] for step in range(1, number % 5 + 2)) + f" {number}")
    world.catch_up()
    return world.index.reader()


@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=6), limit=st.integers(1, 90))
def test_the_best_are_exact(full: SearchReader, words: list[str], limit: int) -> None:
    terms = [(word, 1.0) for word in words]
    everything = full.search(terms, Scope(["memory"]), limit=1000)
    best = full.search(terms, Scope(["memory"]), limit=limit)
    assert [hit["bm25"] for hit in best] == [hit["bm25"] for hit in everything[:limit]]


@settings(max_examples=100, deadline=None)
@given(terms=st.lists(st.tuples(st.text(max_size=80), st.floats(0.01, 10)), max_size=8), kind=st.text(max_size=20))
def test_any_term_is_safe(full: SearchReader, terms: list[tuple[str, float]], kind: str) -> None:
    full.search(terms, Scope(projects=[kind], kinds=[kind]))
    full.frequencies("memory", [term for term, _ in terms])


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> SearchReader:
    world = World(tmp_path_factory.mktemp("said"))
    lines = ["先灰度，再全量", "灰度，灰度，灰度？全量", "今天的天气 is fine", "度", "git 日志 log git log", "没有别的"]
    world.history.say("shop", "s1", *(("user", line) for line in lines))
    world.catch_up()
    return world.index.reader()


def _ids(hits: list[Record]) -> list[int]:
    return [hit["message_id"] for hit in hits]


def test_what_a_passage_says_more_often_fits_better_in_either_language(said: SearchReader) -> None:
    passages = Scope(["passage"])
    assert _ids(said.search([("灰度", 1.0)], passages)) == [2, 1]
    assert said.frequencies("passage", ["灰度", "全量", "git", "斑马"]) == {"灰度": 2, "全量": 2, "git": 1, "斑马": 0}


def test_a_pair_weighs_by_all_that_have_it_however_often_they_say_it(said: SearchReader) -> None:
    """One of two passages has it once, the other several times: to neither it is the rarer for that."""
    once, often = (
        next(hit["bm25"] for hit in said.search([(word, 1.0)], Scope(["passage"])) if hit["message_id"] == id)
        for word, id in (("全量", 1), ("灰度", 1))
    )
    assert once == pytest.approx(often, rel=1e-4)


def test_every_word_may_be_asked_for_wherever_it_is_kept(said: SearchReader) -> None:
    passages = Scope(["passage"])
    assert _ids(said.search([("灰度", 1.0), ("全量", 1.0)], passages, every=True)) == [2, 1]
    assert _ids(said.search([("git", 1.0), ("日志", 1.0)], passages, every=True)) == [5]
    assert said.search([("灰度", 1.0), ("天气", 1.0)], passages, every=True) == []


@pytest.mark.parametrize(
    ("character", "ids"), [("度", [1, 2, 4]), ("先", [1]), ("量", [1, 2]), ("天", [3]), ("马", [])]
)
def test_one_character_is_found_wherever_it_stands_in_a_passage(
    said: SearchReader, character: str, ids: list[int]
) -> None:
    assert sorted(_ids(said.search([(character, 1.0)], Scope(["passage"])))) == ids


def test_a_light_character_is_found_where_it_stands_alone_and_asked_for_where_every_word_is(said: SearchReader) -> None:
    """A function word decides nothing in the middle of another word, and to look for it there takes long."""
    passages = Scope(["passage"])
    assert _ids(said.search([("度", 0.2)], passages)) == [4]
    assert _ids(said.search([("先", 1.0), ("度", 0.2)], passages, every=True)) == [1]


def test_of_keys_that_end_alike_only_the_ones_asked_for_are_found(said: SearchReader) -> None:
    (key, *_) = sorted(said.keys("passage"))
    other = key ^ 1 << 40
    assert layout.shelf_of(other) == layout.shelf_of(key)
    passages = Scope(["passage"])
    assert said.within([key, other], passages).keys() == said.living("passage", [key, other]) == {key}
    assert said.within([other], passages) == {} and said.within([], passages) == {}
