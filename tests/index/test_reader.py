"""Asking the index: exact, safe with any term, cheap to import, and errors in our own terms."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catmem.domain.errors import NotFound
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


def test_a_reader_sees_the_moment_of_its_opening_until_it_reloads(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.learn("zebra one")
    world.catch_up()
    reader = world.index.reader()
    assert len(reader.search([("zebra", 1.0)])) == 1
    world.learn("zebra two")
    world.catch_up()
    assert len(reader.search([("zebra", 1.0)])) == 1
    reader.reload()
    assert len(reader.search([("zebra", 1.0)])) == 2


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
