"""Passages by turn: several of one turn are one result, with what was answered and where to read on."""

from __future__ import annotations

from pathlib import Path

from catmem.domain.memory import statement_hash
from catmem.domain.message import Message
from catmem.recall.recall import Recaller
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
