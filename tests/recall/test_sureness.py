"""A first score tells whether there is an answer: where all fit alike it is half of what it is for one that stands out."""

from __future__ import annotations

from pathlib import Path

import pytest

from catmem.domain.clock import seconds_of
from catmem.index.documents import Record
from catmem.index.scope import Scope
from catmem.recall.keyword import ranked
from catmem.recall.query import Query
from catmem.recall.rank import Weighing
from tests.index.world import START, World

NOW = round(seconds_of("2026-09-01T10:00:00.000Z") * 1000)


def asked(world: World, query: str) -> list[Record]:
    world.catch_up()
    return ranked(
        world.index.reader(), Query(query), Scope(("passage",)), Weighing(NOW, {"note": 30}, 0.0, searched=True)
    )


@pytest.mark.parametrize(
    ("query", "answer", "other"),
    [
        ("zebra okapi crossing", "the zebra has an okapi at its crossing", "a zebra {} in the rain"),
        ("灰度发布流程", "灰度发布流程要三步", "灰度日志 {} 查完了"),
    ],
)
def test_one_that_stands_out_is_surer(tmp_path: Path, query: str, answer: str, other: str) -> None:
    alike, standing_out = World(tmp_path / "alike"), World(tmp_path / "out")
    lines = [other.format(number) for number in range(12)]
    alike.history.say("shop", "s1", *(("user", line) for line in lines))
    standing_out.history.say("shop", "s1", *(("user", line) for line in [*lines, answer]))
    best = asked(standing_out, query)
    assert best[0]["text"] == answer
    sure, unsure = best[0]["score"] / best[0]["relevance"], asked(alike, query)[0]
    assert sure > 1.2 * unsure["score"] / unsure["relevance"]
    assert [hit["score"] for hit in best] == sorted((hit["score"] for hit in best), reverse=True)


def test_what_is_new_is_no_surer_than_what_is_old(tmp_path: Path) -> None:
    scores = []
    for place, at in enumerate((START, "2026-08-31T10:00:00.000Z")):
        world = World(tmp_path / str(place))
        world.history.say("shop", "s1", ("user", "the zebra crosses 灰度"), at=at)
        scores.append(asked(world, "zebra 灰度")[0]["score"])
    assert scores[0] == pytest.approx(scores[1], abs=1e-3)
