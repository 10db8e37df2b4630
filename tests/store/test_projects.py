"""Merging, splitting and naming projects: nothing moves, everything that reads by project follows, all can be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from catmem.domain.clock import system_clock
from catmem.domain.errors import BadInput, NotFound, StorageFailed
from catmem.ledger.ledger import Ledger
from catmem.settings import registry
from catmem.settings.paths import Paths
from catmem.store.memories import MemoryStore
from catmem.store.projects import Projects
from tests.domain.samples import claim_about, distilled


@pytest.fixture
def projects(paths: Paths, store: MemoryStore) -> Projects:
    """`shop` and `blog` (samples.SLOTS) with a memory each."""
    store.commit([distilled(claim_about(0, "pnpm", 10), 20), distilled(claim_about(2, "npm", 11), 21)])
    return Projects(paths, store)


def texts(store: MemoryStore, project: str) -> set[str]:
    return {memory.now.text for memory in store.live(project)}


def test_a_merge_joins_what_is_read_and_leaves_what_is_kept(projects, store):
    apart = texts(store, "shop"), texts(store, "blog")
    assert apart[0].isdisjoint(apart[1])
    projects.merge("blog", "shop")
    assert texts(store, "shop") == texts(store, "blog") == apart[0] | apart[1]
    assert {memory.project for memory in store.live("shop")} == {"shop", "blog"}
    assert {m.id for m in store.all("blog")} == {m.id for m in store.all("shop")}
    assert projects.split("blog") == "shop"
    assert (texts(store, "shop"), texts(store, "blog")) == apart


def test_each_change_can_be_undone_and_the_undoing_too(projects):
    projects.merge("blog", "shop")
    assert projects.undo() == "blog" and projects.registry().homes == {}
    assert projects.undo() == "blog" and projects.registry().homes == {"blog": "shop"}
    projects.rename("shop", "茶壶店")
    assert projects.registry().names["shop"] == "茶壶店"
    assert projects.undo() == "shop" and "shop" not in projects.registry().names
    projects.split("blog")
    projects.undo()
    assert projects.registry().homes == {"blog": "shop"}


def test_parts_follow_and_circles_are_refused(projects):
    projects.merge("notes", "blog")
    projects.merge("blog", "shop")
    assert projects.registry().homes == {"notes": "shop", "blog": "shop"}
    with pytest.raises(BadInput, match="part of shop already"):
        projects.merge("shop", "notes")
    with pytest.raises(BadInput, match="in shop already"):
        projects.merge("blog", "shop")
    with pytest.raises(BadInput):
        projects.merge("shop", "shop")
    with pytest.raises(BadInput):
        projects.split("shop")
    projects.split("blog")
    assert projects.registry().homes == {"notes": "blog"}


def test_there_may_be_nothing_to_undo(projects):
    projects.learn([{"key": "shop", "label": "shop", "folder": "/s"}])
    with pytest.raises(NotFound):
        projects.undo()


def test_the_registry_is_derived(projects, store, paths):
    projects.merge("blog", "shop")
    projects.learn([{"key": "shop", "label": "Shop", "root": "c0ffee", "folder": "/a/shop"}])
    kept = paths.registry.read_bytes()
    for damage in (paths.registry.unlink, lambda: paths.registry.write_bytes(b"{")):
        damage()
        projects.refresh()
        assert paths.registry.read_bytes() == kept
    paths.registry.unlink()
    assert projects.registry().homes == {"blog": "shop"}
    store.rebuild()
    projects.refresh()
    assert paths.registry.read_bytes() == kept
    assert registry.read(paths).seen["shop"] == ("c0ffee", ["/a/shop"])


def test_learning_is_kept_by_whom_it_is_and_moves_no_memory(projects, store):
    turn = store.turn()
    projects.learn([{"key": "blog", "label": "blog", "folder": "/b", "into": "shop"}])
    assert store.turn() == turn and projects.registry().homes == {"blog": "shop"}
    projects.split("blog")
    projects.learn([{"key": "blog", "folder": "/c", "into": "shop"}])
    assert projects.registry().homes == {}, "the user has decided"
    assert [change.op for change in store.changes(limit=3)] == ["project"] * 3


def test_a_registry_that_cannot_be_written_is_made_for_the_reader(projects, paths, monkeypatch):
    projects.merge("blog", "shop")
    paths.registry.unlink()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("catmem.store.projects.write_private", full)
    assert projects.registry().homes == {"blog": "shop"} and not paths.registry.exists()
    with pytest.raises(StorageFailed, match="No space left"):
        projects.refresh()


def test_what_an_export_tells_is_taken_where_nothing_was_said(projects, tmp_path):
    projects.merge("blog", "shop")
    projects.merge("notes", "shop")
    projects.split("notes")
    projects.rename("shop", "茶壶店")
    projects.learn([{"key": "old", "into": "shop"}])
    told = projects.entries()
    assert {entry["key"]: (entry["into"], entry["decided"]) for entry in told} == {
        "blog": ("shop", True), "notes": ("", True), "old": ("shop", False), "shop": ("", False),
    }  # fmt: skip
    there = elsewhere(tmp_path / "there")
    assert there.adopt(told) == 4 and there.adopt(told) == 0
    assert there.entries() == told and there.registry().members("shop") == ("shop", "blog", "old")
    own = elsewhere(tmp_path / "own")
    own.merge("blog", "web")
    own.rename("shop", "mine")
    own.adopt(told)
    assert own.registry().homes["blog"] == "web" and own.registry().names["shop"] == "mine"
    assert [entry["key"] for entry in projects.entries({"blog", "x"})] == ["blog"]


def elsewhere(root: Path) -> Projects:
    paths = Paths(root)
    return Projects(paths, MemoryStore(paths, Ledger(paths, system_clock), system_clock))


@pytest.mark.parametrize(
    "damage", [b"", b"{", b'{"homes": {}}\n', b'{"homes": {"shop": "x"}}\n{"names": {}, "seen": {}}\n']
)
def test_a_damaged_registry_is_found_and_comes_back_the_same(projects, damage):
    projects.merge("blog", "shop")
    path = projects._paths.registry
    whole = path.read_bytes()
    assert projects.is_sound()
    path.write_bytes(damage)
    assert not projects.is_sound()
    projects.refresh()
    assert projects.is_sound() and path.read_bytes() == whole
    path.write_bytes(whole[:-9])
    assert projects.registry().homes == {"blog": "shop"} and path.read_bytes() == whole, "read anew at once"
