"""The vectors keep up with the index, go on after a kill, and nothing that was forgotten is left of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from catmem.domain.session import SessionRef
from catmem.index.documents import hash_of
from catmem.index.scope import Scope
from catmem.index.vectors.background import SENTENCES
from catmem.index.vectors.builder import VectorIndex
from catmem.index.vectors.layout import BACKGROUND, file_of, folder_of, read_state, rows_of
from catmem.index.vectors.nearest import nearness
from catmem.index.vectors.rows import HEAD
from catmem.llm.hashed import HashedEmbedder
from catmem.llm.port import Failure
from tests.index.world import World

FAILURE = Failure("the server is down; start it", "服务器没有运行；请启动", remedy="later")


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    for number in range(20):
        world.learn(f"module {number} is parsed by hand 第{number}个模块")
    world.history.say("shop", "s1", *(("user", f"what did we say about case {number}?") for number in range(20)))
    world.catch_up()
    return world


@pytest.fixture
def vectors(world: World) -> VectorIndex:
    return VectorIndex(world.paths)


@pytest.fixture
def embedder() -> HashedEmbedder:
    return HashedEmbedder()


def after(looks: int) -> Callable[[], bool]:
    """Stops at the so many-th look."""
    left = iter(range(looks))
    return lambda: next(left, None) is None


def nearest(world: World, embedder: HashedEmbedder, query: str, type: str = "memory") -> list[str]:
    """The texts of the documents of a type, nearest first, as far as the index has them."""
    state = read_state(world.paths.search)
    near = nearness(world.paths.search, state, type, embedder.embed([query], "query"), [0], None)
    keys = [one.key for one in near.best()] if near else []
    found = world.index.reader().within(keys, Scope((type,))) if keys else {}
    return [found[key]["text"] for key in keys if key in found]


def texts(embedder: HashedEmbedder) -> list[str]:
    return [text for purpose, text in embedder.asked if purpose == "passage" and text not in SENTENCES]


def test_everything_is_embedded_once(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    built = vectors.build(embedder)
    assert (built.added, built.complete) == (40, True)
    assert len(texts(embedder)) == len(set(texts(embedder))) == 40
    found = vectors.coverage(embedder)
    assert (found.model, found.done, found.wanted) == ("hashed", 40, 40)
    assert nearest(world, embedder, "module 7")[0].startswith("module 7 ")


def test_when_nothing_is_new_the_embedder_is_not_asked(vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    vectors.build(embedder)
    embedder.asked.clear()
    assert vectors.build(embedder).added == 0 and embedder.asked == []


def test_of_what_is_new_only_that_is_embedded(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    vectors.build(embedder)
    embedder.asked.clear()
    world.learn("We deploy with Argo CD")
    world.catch_up()
    assert vectors.build(embedder).added == 1 and texts(embedder) == ["We deploy with Argo CD"]


def test_without_an_index_or_anything_in_it_nothing_is_asked(tmp_path: Path, embedder: HashedEmbedder) -> None:
    empty = World(tmp_path / "empty")
    assert VectorIndex(empty.paths).build(embedder).added == 0
    empty.catch_up()
    assert VectorIndex(empty.paths).build(embedder).added == 0 and embedder.asked == []


@pytest.mark.parametrize("looks", range(1, 5))
def test_what_was_cut_short_is_gone_on_with(vectors: VectorIndex, embedder: HashedEmbedder, looks: int) -> None:
    added = vectors.build(embedder, after(looks))
    assert not added.complete
    rest = vectors.build(embedder)
    assert added.added + rest.added == 40 and vectors.coverage(embedder).done == 40
    assert len(texts(embedder)) == 40, "nothing is embedded twice"


@pytest.mark.parametrize("type", ["memory", "passage"])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_rows_that_are_torn_are_made_again(
    world: World, vectors: VectorIndex, embedder: HashedEmbedder, type: str, share: float
) -> None:
    vectors.build(embedder)
    file = file_of(world.paths.search, type)
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    assert not vectors.is_sound(embedder)
    vectors.build(embedder)
    assert vectors.is_sound(embedder) and vectors.coverage(embedder).done == 40
    assert file.stat().st_size == len(data)


@pytest.mark.parametrize("name", ["model.json", "memory.rows", "passage.rows", "background.rows"])
def test_any_file_may_be_deleted(world: World, vectors: VectorIndex, embedder: HashedEmbedder, name: str) -> None:
    vectors.build(embedder)
    (folder_of(world.paths.search) / name).unlink()
    vectors.build(embedder)
    assert vectors.coverage(embedder).done == 40 and (folder_of(world.paths.search) / name).exists()


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"format": 1}', b'{"format": 99}', b'{"format":1,"model":3}'])
def test_a_damaged_note_means_nothing_is_known(
    world: World, vectors: VectorIndex, embedder: HashedEmbedder, damage: bytes
) -> None:
    vectors.build(embedder)
    (folder_of(world.paths.search) / "model.json").write_bytes(damage)
    assert read_state(world.paths.search).model == ""
    assert vectors.build(embedder).added == 40


def test_vectors_of_another_model_are_made_anew(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    vectors.build(embedder)
    other = HashedEmbedder("other", dimension=32)
    assert vectors.coverage(other).done == 0
    assert vectors.build(other).added == 40
    state = read_state(world.paths.search)
    assert (state.model, state.dimension) == ("other", 32) and nearest(world, other, "module 7")[0].startswith(
        "module 7 "
    )


def test_a_model_that_gives_another_length_than_before_is_a_failure(
    world: World, vectors: VectorIndex, embedder: HashedEmbedder
) -> None:
    vectors.build(embedder)
    world.learn("We deploy with Argo CD")
    world.catch_up()
    built = vectors.build(HashedEmbedder("hashed", dimension=32))
    assert built.trouble is not None and "another length" in built.trouble.en and vectors.coverage(embedder).trouble
    assert nearest(world, embedder, "module 7")[0].startswith("module 7 "), "what was there is still good"


def test_a_failure_keeps_what_was_done_and_is_told(vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    vectors.build(embedder, after(2))
    done = vectors.coverage(embedder).done
    embedder.failure = FAILURE
    assert vectors.build(embedder).trouble is FAILURE
    found = vectors.coverage(embedder)
    assert found.done == done > 0 and found.trouble == (FAILURE.en, FAILURE.zh)
    embedder.failure = None
    vectors.build(embedder)
    assert vectors.coverage(embedder).trouble == ()


# -- forgetting -------------------------------------------------------------------------------------------------------


def keys_in(world: World) -> set[int]:
    state = read_state(world.paths.search)
    return {key for rows in rows_of(world.paths.search, state).values() for key in rows.complete_keys()}


def test_a_forgotten_memory_leaves_no_row(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    id = world.learn("The code of the safe is 4711")
    world.history.say("shop", "s2", ("user", "The code of the safe is 4711. And what is for lunch?"))
    world.catch_up()
    vectors.build(embedder)
    before = keys_in(world)
    world.store.forget([id], "a test")
    world.index.forget([id])
    gone = before - keys_in(world)
    assert hash_of(f"{id}\x1fThe code of the safe is 4711") in gone
    assert len(gone) == 2, "that of the passage that had the sentence, too"
    assert all("4711" not in text for type in ("memory", "passage") for text in nearest(world, embedder, "safe", type))
    world.catch_up()
    vectors.build(embedder)
    assert not any("4711" in text for text in nearest(world, embedder, "what is for lunch", "passage"))


def test_a_deleted_session_leaves_no_row(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    world.history.say("shop", "s2", ("user", "zebra"), ("assistant", "斑马"))
    world.catch_up()
    vectors.build(embedder)
    before = keys_in(world)
    del world.history.sessions[SessionRef("shop", "s2")]
    world.catch_up()
    assert len(before - keys_in(world)) == 2 and "zebra" not in nearest(world, embedder, "zebra", "passage")


def test_what_is_forgotten_while_it_is_embedded_does_not_come_back(
    world: World, vectors: VectorIndex, embedder: HashedEmbedder
) -> None:
    id = world.learn("The code of the safe is 4711")
    world.catch_up()

    class Slow(HashedEmbedder):
        def embed(self, texts, purpose):  # type: ignore[no-untyped-def]
            if any("4711" in text for text in texts):
                world.store.forget([id], "a test")
                world.index.forget([id])
            return super().embed(texts, purpose)

    vectors.build(Slow())
    assert hash_of(f"{id}\x1fThe code of the safe is 4711") not in keys_in(world)


def test_a_row_without_a_document_is_never_found(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    """As a backup put back, or a kill between the index and the vectors, may leave one."""
    id = world.learn("The code of the safe is 4711")
    world.catch_up()
    vectors.build(embedder)
    kept = folder_of(world.paths.search).with_name("kept")
    shutil.copytree(folder_of(world.paths.search), kept)
    world.store.forget([id], "a test")
    world.index.forget([id])
    shutil.rmtree(folder_of(world.paths.search))
    kept.rename(folder_of(world.paths.search))
    assert all("4711" not in text for text in nearest(world, embedder, "the code of the safe"))
    vectors.prune()
    assert hash_of(f"{id}\x1fThe code of the safe is 4711") not in keys_in(world)


def test_an_index_made_anew_keeps_its_vectors(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    vectors.build(embedder)
    embedder.asked.clear()
    world.rebuild()
    assert vectors.build(embedder).added == 0 and embedder.asked == []


# -- bounds -----------------------------------------------------------------------------------------------------------


def test_a_long_text_has_several_rows(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    lines = [f"We talked about the weather of day {number}, at length." for number in range(60)]
    world.history.say("shop", "long", ("user", "\n".join(lines)))
    world.catch_up()
    vectors.build(embedder)
    assert file_of(world.paths.search, "passage").stat().st_size // (HEAD.size + 64) > 22
    assert vectors.coverage(embedder).done == 41


def test_the_newest_are_embedded_first(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    world.history.say("shop", "new", ("user", "the newest words of all"), at="2026-05-01T10:00:00.000Z")
    world.catch_up()
    vectors.build(embedder)
    said = [text for text in texts(embedder) if not text.startswith("module")]
    assert said[0] == "the newest words of all"


def test_notes_and_rows_are_private(world: World, vectors: VectorIndex, embedder: HashedEmbedder) -> None:
    vectors.build(embedder)
    for file in folder_of(world.paths.search).iterdir():
        assert file.stat().st_mode & 0o077 == 0, file
    note = json.loads((folder_of(world.paths.search) / "model.json").read_bytes())
    assert note["model"] == "hashed" and file_of(world.paths.search, BACKGROUND).exists()
