"""The index keeps up with memories and sessions, one writer at a time, and what was forgotten leaves no byte."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.index import layout
from catmem.index.documents import Record
from catmem.index.reader import EVERY_TYPE
from catmem.index.scope import Scope
from catmem.sessions.history import History
from tests.index.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def find(world: World, *words: str, limit: int = 50, **scope: object) -> list[Record]:
    return world.index.reader().search([(word, 1.0) for word in words], Scope(**scope), limit=limit)  # type: ignore[arg-type]


def texts(records: list[Record]) -> list[str]:
    return [record["text"] for record in records]


def files_with(world: World, text: str) -> list[str]:
    """The files of the index that hold `text` in any case, compressed blocks being small enough to stay readable."""
    needle = text.casefold().encode()
    return [p.name for p in world.paths.search.rglob("*") if p.is_file() and needle in p.read_bytes().lower()]


def test_memories_and_what_was_said_are_found(world: World) -> None:
    world.learn("We deploy with Argo CD")
    world.history.say("shop", "s1", ("user", "部署失败了"), ("assistant", "let me look"), ("tool", "deploy log zebra"))
    indexed = world.catch_up()
    assert (indexed.memories, indexed.passages, indexed.busy) == (1, 2, False)
    assert texts(find(world, "argo")) == ["We deploy with Argo CD"]
    assert [(r["type"], r["kind"], r["message_id"]) for r in find(world, "部署")] == [("passage", "user", 1)]
    assert find(world, "zebra") == [], "what a tool gave back is found by who asks for it"
    assert [(r["kind"], r["message_id"]) for r in find(world, "zebra", types=["output"])] == [("tool", 3)]


def test_a_second_catch_up_does_nothing(world: World) -> None:
    world.learn("We deploy with Argo CD")
    world.history.say("shop", "s1", ("user", "hello there"))
    world.catch_up()
    world.history.reads.clear()
    indexed = world.catch_up()
    assert (indexed.memories, indexed.passages, indexed.removed) == (0, 0, 0)
    assert world.history.reads == []


def test_of_sessions_that_nobody_touched_not_even_the_first_lines_are_read(tmp_path: Path) -> None:
    world = World(tmp_path)
    history, ref = History(world.paths, durability="none", redact=lambda text, source: text), SessionRef("shop", "s1")

    def say(number: int, text: str) -> None:
        history.append(ref, [Message("user", text, "2026-03-01T10:00:00.000Z", f"u{number}")])

    def caught_up() -> tuple[int, int]:
        before = history.bytes_read
        return world.index.catch_up(world.store, history).passages, history.bytes_read - before

    say(1, "zebra")
    assert caught_up()[0] == 1
    assert caught_up() == (0, 0)
    say(2, "okapi")
    assert caught_up()[0] == 1 and len(find(world, "okapi")) == 1
    history.delete(ref)
    assert world.index.catch_up(world.store, history).removed == 1 and find(world, "zebra") == []


def test_a_session_is_found_by_its_title(tmp_path: Path) -> None:
    world = World(tmp_path)
    history = History(world.paths, durability="none", redact=lambda text, source: text)
    for number, title in enumerate(("Sourdough 计划", "how do I   knead it…")):
        message = Message("user", "how do I knead\nit by hand?", "2026-03-01T10:00:00.000Z", f"u{number}")
        history.append(SessionRef("bread", f"s{number}"), [message], title=title)
    world.index.catch_up(world.store, history)
    found = find(world, "sourdough", "计划", types=["output"])
    assert [(r["session"], r["kind"], r["message_id"], r["text"]) for r in found] == [
        ("s0", "title", 1, "Sourdough 计划")
    ]
    assert find(world, "knead", types=["output"]) == [], "its words are those of the message"
    world.index.forget([], ["sourdough"])
    assert files_with(world, "sourdough") == []


def test_only_what_is_new_is_read(world: World) -> None:
    world.history.say("shop", "s1", ("user", "alpha"))
    world.history.say("shop", "s2", ("user", "beta"))
    world.catch_up()
    world.history.reads.clear()
    world.history.say("shop", "s2", ("user", "gamma"))
    assert world.catch_up().passages == 1
    assert set(world.history.reads) == {SessionRef("shop", "s2")}
    assert len(find(world, "alpha", "beta", "gamma")) == 3


def test_a_superseded_statement_is_found_only_by_who_asks(world: World) -> None:
    world.learn("The test runner is pytest", subject="test runner", predicate="uses", object="pytest")
    world.catch_up()
    world.learn(
        "The test runner is now nose2", subject="test runner", predicate="uses", object="nose2",
        at="2026-04-01T10:00:00.000Z", sessions=("s2",),
    )  # fmt: skip
    world.catch_up()
    assert texts(find(world, "runner")) == ["The test runner is now nose2"]
    asked = find(world, "runner", past=True)
    assert {(r["status"], r["text"]) for r in asked} == {
        ("live", "The test runner is now nose2"),
        ("superseded", "The test runner is pytest"),
    }


def test_filters_hold_before_ranking(world: World) -> None:
    for number in range(150):
        world.learn(f"zebra zebra zebra number {number}", project="noise", kind="note", at="2026-05-01T10:00:00.000Z")
    world.learn("one zebra long ago", at="2024-01-01T10:00:00.000Z")
    world.learn("用户喜欢 zebra", scope="global", kind="preference")
    world.catch_up()
    assert sorted(texts(find(world, "zebra", projects=["shop", ""], limit=5))) == [
        "one zebra long ago",
        "用户喜欢 zebra",
    ]
    assert texts(find(world, "zebra", kinds=["preference"], limit=1)) == ["用户喜欢 zebra"]
    assert texts(find(world, "zebra", until=1735689600000, limit=1)) == ["one zebra long ago"]
    instant = 1704103200000  # 2024-01-01T10:00Z: both ends are included
    assert texts(find(world, "zebra", since=instant, until=instant, limit=1)) == ["one zebra long ago"]


def test_a_rewound_branch_leaves_the_index(world: World) -> None:
    world.history.say("shop", "s1", ("user", "first idea: zebra"), ("assistant", "fine"))
    world.catch_up()
    ref = SessionRef("shop", "s1")
    world.history.sessions[ref] = world.history.sessions[ref][1:]
    world.history.say("shop", "s1", ("user", "second idea: okapi"))
    world.catch_up()
    assert find(world, "zebra") == []
    assert len(find(world, "okapi")) == 1


def test_a_deleted_session_leaves_the_index(world: World) -> None:
    world.history.say("shop", "s1", ("user", "zebra"))
    world.history.say("shop", "s2", ("user", "okapi"))
    world.catch_up()
    del world.history.sessions[SessionRef("shop", "s1")]
    assert world.catch_up().removed == 1
    assert find(world, "zebra") == [] and len(find(world, "okapi")) == 1


def test_the_same_key_in_two_projects_is_two_sessions(world: World) -> None:
    world.history.say("shop", "s1", ("user", "zebra one"))
    world.history.say("bank", "s1", ("user", "zebra two"))
    world.catch_up()
    assert texts(find(world, "zebra", projects=["bank"])) == ["zebra two"]
    world.history.say("bank", "s1", ("user", "zebra three"))
    world.catch_up()
    assert texts(find(world, "zebra", projects=["shop"])) == ["zebra one"]


def test_losing_the_watermark_costs_work_and_changes_no_answer(world: World) -> None:
    world.learn("We deploy with Argo CD")
    world.history.say("shop", "s1", ("user", "zebra"), ("assistant", "okapi zebra"))
    world.catch_up()
    before = find(world, "zebra", "argo")
    (Path(layout.index_folder(str(world.paths.search))) / "watermark.json").unlink()
    world.catch_up()
    assert find(world, "zebra", "argo") == before


def test_a_batch_that_was_killed_is_taken_up_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catmem.index.writer.BATCH", 2)
    for number in range(6):
        world.history.say("shop", f"s{number}", ("user", f"zebra {number}"), ("assistant", "ok"))
    fail_at = SessionRef("shop", "s4")
    talk = world.history.talk

    def dying(ref: SessionRef) -> list[object]:
        if ref == fail_at:
            raise KeyboardInterrupt
        return talk(ref)  # type: ignore[return-value]

    monkeypatch.setattr(world.history, "talk", dying)
    with pytest.raises(KeyboardInterrupt):
        world.catch_up()
    monkeypatch.setattr(world.history, "talk", talk)
    world.catch_up()
    assert sorted(texts(find(world, "zebra"))) == [f"zebra {number}" for number in range(6)]


def test_who_finds_the_index_busy_leaves(world: World) -> None:
    world.learn("We deploy with Argo CD")
    world.paths.make(world.paths.locks)
    with FileLock(world.paths.locks / "search.lock"):
        assert world.catch_up().busy
    assert world.catch_up().memories == 1


@pytest.mark.parametrize("part", layout.PARTS)
@pytest.mark.parametrize("damage", ["folder", "meta", "postings", "store", "part"])
def test_a_damaged_index_is_made_anew_with_the_same_answers(world: World, damage: str, part: str) -> None:
    world.learn("We deploy with Argo CD")
    world.history.say("shop", "s1", ("user", "argo zebra"), ("tool", "zebra crossing"))
    world.catch_up()
    before = find(world, "zebra", "argo", types=EVERY_TYPE)
    assert len(before) == 3
    folder = Path(layout.part_folder(str(world.paths.search), part))
    if damage == "folder":
        shutil.rmtree(world.paths.search.rename(world.paths.search.with_name("gone")))
    elif damage == "part":
        shutil.rmtree(folder)
    elif damage == "meta":
        (folder / "meta.json").write_text("{")
    else:
        for file in folder.glob("*.idx" if damage == "postings" else "*.store"):
            file.unlink()
    world.catch_up()
    assert find(world, "zebra", "argo", types=EVERY_TYPE) == before


def test_a_rebuilt_database_is_indexed_anew(world: World) -> None:
    for number in range(3):
        world.learn(f"zebra number {number}")
    world.catch_up()
    world.store.rebuild()
    world.learn("zebra number 3")
    world.catch_up()
    assert len(find(world, "zebra")) == 4


def test_an_index_of_another_format_goes(world: World) -> None:
    old = world.paths.search / "v0"
    old.mkdir(parents=True)
    (old / "segment").write_text("what was forgotten since")
    world.catch_up()
    assert not old.exists()


def test_forgetting_leaves_no_byte(world: World) -> None:
    doomed = world.learn("The vault code is kept by Xanthippe", subject="vault", predicate="is", object="a")
    world.learn("We deploy with Argo CD")
    world.catch_up()
    # A later form of the same memory: its first one lies dead in an older segment.
    world.learn(
        "The vault code is kept by Zenobia", subject="vault", predicate="is", object="b",
        at="2026-04-01T10:00:00.000Z", sessions=("s2",),
    )  # fmt: skip
    world.catch_up()
    assert files_with(world, "xanthippe") and files_with(world, "zenobia")
    world.index.forget([doomed])
    assert files_with(world, "xanthippe") == [] and files_with(world, "zenobia") == []
    assert texts(find(world, "argo")) == ["We deploy with Argo CD"]


def test_a_memory_forgotten_elsewhere_goes_with_the_next_catch_up(world: World) -> None:
    doomed = world.learn("钥匙在玄关的花盆底下 xanthippe")
    world.learn("We deploy with Argo CD")
    world.catch_up()
    world.store.forget([doomed])
    assert world.catch_up().removed == 1
    assert files_with(world, "xanthippe") == []


def test_a_forgotten_phrase_is_cut_out_of_passages(world: World) -> None:
    world.history.say("shop", "s1", ("user", "We deploy on Fridays. Xanthippe has the code."), ("assistant", "okay"))
    world.history.say("shop", "s1", ("tool", "$ cat notes\nXanthippe has the code.\nokapi"))
    world.history.say("shop", "s2", ("user", "deploy zebra"))
    world.catch_up()
    assert world.index.forget([], ["xanthippe  has the CODE."]) == 2
    assert files_with(world, "xanthippe") == []
    assert texts(find(world, "fridai", "friday")) == ["We deploy on Fridays. "]
    assert len(find(world, "deploy")) == 2


def test_a_rebuild_does_not_bring_a_forgotten_sentence_back(world: World) -> None:
    doomed = world.learn("Xanthippe has the code")
    world.history.say("shop", "s1", ("user", "We deploy on Fridays. Remember, Xanthippe has the code, okay? Zebra."))
    world.history.say("shop", "s1", ("tool", "okapi\nXanthippe has the code\n"))
    world.catch_up()
    world.store.forget([doomed])
    world.catch_up()
    assert files_with(world, "xanthippe") == []
    world.rebuild()
    assert files_with(world, "xanthippe") == []
    assert len(find(world, "zebra", types=["passage"])) == len(find(world, "okapi", types=["output"])) == 1


def test_a_long_message_becomes_several_passages(world: World) -> None:
    lines = [f"line {number} of a long log" for number in range(500)]
    world.history.say("shop", "s1", ("user", "\n".join([*lines, "zebra at the end"])))
    world.catch_up()
    found = find(world, "zebra")
    assert [record["message_id"] for record in found] == [1]
    assert len(found[0]["text"]) < 5000
    assert found[0]["text"].endswith("zebra at the end")


def test_the_files_are_the_users_alone(world: World) -> None:
    world.learn("We deploy with Argo CD")
    world.catch_up()
    assert all(p.stat().st_mode & 0o077 == 0 for p in world.paths.search.rglob("*"))


def test_the_watermark_is_a_small_readable_file(world: World) -> None:
    world.history.say("shop", "s1", ("user", "hello"))
    world.catch_up()
    mark = json.loads((Path(layout.index_folder(str(world.paths.search))) / "watermark.json").read_text())
    assert mark["files"] == "", "there is no file of a session"
    assert mark["sessions"] == {"shop": {"s1": [1, 1, "2026-03-01T10:00:00.000Z"]}}


WORDS = st.sampled_from(["zebra", "okapi", "部署", "测试", "deploy", "端口 8443"])


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.sampled_from(["learn", "say", "catch up"]), WORDS, WORDS), max_size=12))
def test_bit_by_bit_or_at_once_the_index_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, str, str]]
) -> None:
    world = World(tmp_path_factory.mktemp("world"))
    for number, (step, one, other) in enumerate(steps):
        if step == "learn":
            world.learn(f"{one} {other}", sessions=(f"s{number}",))
        elif step == "say":
            world.history.say("shop", f"s{number % 3}", ("user", f"{one} {other}"), ("tool", other))
        else:
            world.catch_up()
    world.catch_up()

    def answers() -> list[tuple[str, str, str]]:
        found = find(world, "zebra", "okapi", "部署", "测试", "deploy", "8443", types=EVERY_TYPE, limit=1000)
        return sorted((r["type"], r["id"], r["text"]) for r in found)

    before = answers()
    world.rebuild()
    assert answers() == before
