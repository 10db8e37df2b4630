"""Passages by turn: several of one turn are one result, with what was answered and where to read on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.domain.memory import statement_hash
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.recall.recall import Recaller
from catmem.recall.search import MOST, Searcher
from catmem.recall.turns import Talks, turns_around, turns_of
from catmem.settings.schema import Settings
from tests.index.world import World


def talk(*said: tuple[str, str]) -> list[Message]:
    return [Message(role, text, "", "", number, "s1") for number, (role, text) in enumerate(said, 1)]  # type: ignore[arg-type]


LINES = (
    ("user", "why does QX-77 come up?"),
    ("assistant", "QX-77 is a full spool."),
    ("tool", "spool: 100 %"),
    ("assistant", "I have emptied it; QX-77 is gone."),
    ("user", "谢谢，那 QX-78 呢？"),
    ("assistant", "QX-78 表示卡纸。"),
    ("user", "ok"),
)


def test_a_turn_is_a_users_words_and_all_that_answers_them() -> None:
    turns = turns_of(talk(*LINES), {2, 4, 5})
    assert turns[2] == turns[4] == {
        "first": 1, "last": 4, "asked": "why does QX-77 come up?", "answered": "QX-77 is a full spool.",
    }  # fmt: skip
    assert (turns[5]["first"], turns[5]["last"], turns[5]["answered"]) == (5, 6, "QX-78 表示卡纸。")


def test_the_turns_beside_it_are_its_neighbours() -> None:
    messages = talk(*LINES)
    assert [m.id for m in turns_around(messages, 6)] == [1, 2, 3, 4, 5, 6, 7]
    assert [m.id for m in turns_around(messages, 7)] == [5, 6, 7]
    assert [m.id for m in turns_around(messages, 2)] == [1, 2, 3, 4, 5, 6]
    assert turns_around(messages, 9) == turns_around([], 1) == []


def test_recall_gives_one_result_a_turn(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.history.say("shop", "s1", *LINES[:2], *LINES[3:])  # type: ignore[arg-type]
    world.catch_up()
    hidden = {statement_hash("I have emptied it")}
    recaller = Recaller(world.paths, Settings(language="en"), talks=Talks(world.history.talk, lambda: hidden))
    (item,) = recaller.recall("QX-77", project="shop")["items"]
    assert item["turn"] == {
        "first": 1, "last": 3, "asked": "why does QX-77 come up?", "answered": "QX-77 is a full spool.",
    }  # fmt: skip
    assert item["why"].endswith("2 more of the same turn")
    items = recaller.recall("QX-77 QX-78", project="shop")["items"]
    assert sorted(item["turn"]["first"] for item in items) == [1, 4]
    assert len(recaller.recall("QX-77 QX-78", project="shop", limit=1)["items"]) == 1


def test_what_was_forgotten_is_not_shown_as_an_answer(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.history.say(
        "shop", "s1", ("user", "where is the QX-77 spool?"), ("assistant", "In the cellar. Mind the step.")
    )
    world.catch_up()
    talks = Talks(world.history.talk, lambda: {statement_hash("In the cellar")})
    (item, *_) = Recaller(world.paths, Settings(), talks=talks).recall("where is the QX-77 spool", project="shop")[
        "items"
    ]
    assert "cellar" not in item["turn"]["answered"] and "step" in item["turn"]["answered"]


def test_search_gives_one_result_a_turn_and_tells_where_the_others_are(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.history.say("shop", "s1", *LINES)  # type: ignore[arg-type]
    world.history.say("shop", "s2", ("user", "QX-77 again"), ("assistant", "又是 QX-77"))
    world.catch_up()
    talks = Talks(world.history.talk, lambda: {statement_hash("QX-78 表示卡纸")})
    search = Searcher(world.paths, Settings(), talks=talks).search
    found = {(item["session"], item["turn"]["first"]): item for item in search("QX-77 QX-78", project=None)["items"]}
    assert sorted(found) == [("s1", 1), ("s1", 5), ("s2", 1)]
    first = found["s1", 1]
    assert {first["message_id"], *first["same_turn"]} == {1, 2, 4} and len(first["same_turn"]) == 2
    assert first["turn"]["asked"] == "why does QX-77 come up?"
    assert found["s1", 5]["turn"]["answered"] == "", "what was forgotten is not shown as an answer"
    by_assistant = search("QX-77", project="shop", role="assistant")["items"]
    assert {(i["message_id"], *i["same_turn"]) for i in by_assistant} & {(2, 4), (4, 2)}


def test_a_message_in_several_pieces_is_one_of_its_turn(tmp_path: Path) -> None:
    world = World(tmp_path)
    page = "".join(f"Line {number} of the QX-77 report.\n" for number in range(400))
    world.history.say("shop", "s1", ("user", "print it"), ("assistant", page))
    world.catch_up()
    searcher = Searcher(world.paths, Settings(), talks=Talks(world.history.talk, frozenset))
    assert len(Searcher(world.paths, Settings()).search("QX-77", project="shop")["items"]) > 1, "it is several"
    (item,) = searcher.search("QX-77", project="shop")["items"]
    assert (item["message_id"], item["same_turn"]) == (2, [])


# Two words in every message, so that many of one turn are found; most turns are long, as those of assistants are.
WORDS = ["zebra", "okapi", "端口", "部署", "deploy"]
ROLES: Sequence[str] = ("user", "assistant", "tool", "assistant", "tool", "tool", "assistant")


@pytest.fixture(scope="module")
def long_turns(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("turns"))
    for number in range(180):
        one, other = WORDS[number % len(WORDS)], WORDS[number * 3 % 4]
        role = ROLES[number % len(ROLES)] if number < 60 else "user" if number % 30 == 0 else "assistant"
        world.history.say("shop", f"s{number // 45}", (role, f"{one} then {other}, step {number}"))  # type: ignore[arg-type]
    world.catch_up()
    return world


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3), limit=st.integers(1, 40))
def test_folding_keeps_the_best_of_each_turn_and_is_done_before_the_limit(
    long_turns: World, words: list[str], limit: int
) -> None:
    query, loose = " ".join(words), Settings(semantic_match_threshold=0.0)
    talks = Talks(long_turns.history.talk, frozenset)
    every = [
        (i["session"], i["message_id"])
        for i in Searcher(long_turns.paths, loose).search(query, project=None, limit=MOST * 4)["items"]
    ]
    whole = Searcher(long_turns.paths, loose, talks=talks).search(query, project=None, limit=MOST)["items"]
    kept = [(i["session"], i["message_id"]) for i in whole]
    assert kept == [place for place in every if place in kept], "in the order that they were found in"
    assert kept[0] == every[0], "the best is never folded into another"
    turns = [(i["session"], i["turn"]["first"]) for i in whole]
    assert len(set(turns)) == len(turns)
    told = [(i["session"], id) for i in whole for id in (i["message_id"], *i["same_turn"])]
    assert sorted(told) == sorted(every), "each that was found is a result or counted with its turn"
    assert (
        Searcher(long_turns.paths, loose, talks=talks).search(query, project=None, limit=limit)["items"]
        == whole[:limit]
    )
    recall = Recaller(long_turns.paths, loose, talks=talks).recall
    recalled = [item["id"] for item in recall(query, project=None, limit=100)["items"]]
    assert [item["id"] for item in recall(query, project=None, limit=limit)["items"]] == recalled[:limit]


def test_no_more_sessions_are_read_than_results_are_shown(long_turns: World) -> None:
    long_turns.history.reads.clear()
    talks = Talks(long_turns.history.talk, frozenset)
    assert Searcher(long_turns.paths, Settings(), talks=talks).search("zebra 端口", project=None, limit=2)["items"]
    assert len(long_turns.history.reads) <= 2


def of_the_first(talks: Talks, key: str) -> object:
    (hit,) = talks.by_turn([{"type": "passage", "project": "shop", "session": key, "message_id": 1}], 1)
    return hit["turn"]["answered"]


def test_a_session_is_read_once_for_several_questions_as_long_as_it_is_the_same(tmp_path: Path) -> None:
    history = World(tmp_path).history
    history.say("shop", "s1", *LINES[:2])  # type: ignore[arg-type]
    talks = Talks(history.talk, frozenset, lambda ref: len(history.sessions[ref]))
    assert {of_the_first(talks, "s1") for _ in range(3)} == {"QX-77 is a full spool."}
    assert len(history.reads) == 1
    history.sessions[SessionRef("shop", "s1")][1:] = []  # as a rewind leaves it
    assert of_the_first(talks, "s1") == ""
    for number in range(9):
        history.say("shop", f"其他{number}", *LINES[4:6])  # type: ignore[arg-type]
        assert of_the_first(talks, f"其他{number}") == "QX-78 表示卡纸。"
    history.reads.clear()
    assert of_the_first(talks, "其他8") and of_the_first(talks, "s1") == ""
    assert history.reads == [SessionRef("shop", "s1")], "only the last few are kept"


def test_what_was_forgotten_since_is_not_shown_from_what_was_kept(tmp_path: Path) -> None:
    history, hidden = World(tmp_path).history, set[str]()
    history.say("shop", "s1", ("user", "where is it?"), ("assistant", "In the cellar. Mind the step."))
    talks = Talks(history.talk, lambda: hidden, lambda ref: 0)
    assert of_the_first(talks, "s1") == "In the cellar. Mind the step."
    hidden.add(statement_hash("In the cellar"))
    assert of_the_first(talks, "s1") == "Mind the step."


def test_of_a_very_long_session_nothing_is_kept(tmp_path: Path) -> None:
    history = World(tmp_path).history
    history.say("shop", "s1", *LINES[:2], ("user", "长" * 1_100_000))  # type: ignore[arg-type]
    talks = Talks(history.talk, frozenset, lambda ref: 0)
    assert {of_the_first(talks, "s1") for _ in range(2)} == {"QX-77 is a full spool."}
    assert all(turns is None for _, turns in talks._kept.values())
