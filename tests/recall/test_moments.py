"""Months and days that a query names, in both languages; and what ranking makes of them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.clock import seconds_of
from catmem.recall.moments import MOST, Moment, fit, moments_in
from catmem.recall.recall import Recaller
from catmem.settings.schema import Settings
from tests.index.world import World


def said(text: str) -> list[tuple[int, int, int, int]]:
    return [(moment.year, moment.month, moment.first, moment.last) for moment in moments_in(text)]


@pytest.mark.parametrize(
    ("text", "moments"),
    [
        ("what did we decide in March?", [(0, 3, 1, 31)]),
        ("the outage of January 22nd, 2025", [(2025, 1, 22, 22)]),
        ("early June and late July 2024", [(0, 6, 1, 10), (2024, 7, 21, 31)]),
        ("in May we moved", [(0, 5, 1, 31)]),
        ("logs of 2025-02-27 and 2025/03", [(2025, 2, 27, 27), (2025, 3, 1, 31)]),
        ("2025年3月的事故", [(2025, 3, 1, 31)]),
        ("1月中旬决定的", [(0, 1, 11, 20)]),
        ("十二月底发布", [(0, 12, 21, 31)]),
        ("3月8日的 deploy in April", [(0, 3, 8, 8), (0, 4, 1, 31)]),
    ],
)
def test_what_is_named(text: str, moments: list[tuple[int, int, int, int]]) -> None:
    assert said(text) == moments


@pytest.mark.parametrize(
    "text",
    ["you may march on", "3个月的试用期", "月亮", "13月", "2025-13-01", "0月", "v2025.1", "", "1/2 cup", "maybe"],
)
def test_what_is_no_month(text: str) -> None:
    assert said(text) == []


@given(st.text())
def test_any_text_is_safe(text: str) -> None:
    now = 1_780_000_000_000
    for moment in moments_in(text):
        first, last = moment.bounds(now)
        assert first < last
        assert moment.year or first <= now


@given(st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1)))
def test_a_day_fits_itself_best(day: datetime) -> None:
    instant = round(day.timestamp() * 1000)
    whole, exact = Moment(0, day.month), Moment(day.year, day.month, day.day, day.day)
    assert 0 < fit([whole], [instant]) < fit([exact], [instant]) == fit([whole, exact], [instant]) == MOST
    assert fit([Moment(day.year + 1, day.month)], [instant]) == fit([exact], []) == 0


@pytest.mark.parametrize(
    ("query", "wanted"),
    [("what broke the zebra queue in March", "2026-03"), ("斑马队列 1月中旬 zebra queue", "2026-01")],
)
def test_of_alike_memories_that_of_the_named_month_is_first(tmp_path: Path, query: str, wanted: str) -> None:
    world = World(tmp_path)
    for number, month in enumerate(("2026-05", "2026-03", "2026-01", "2025-11")):
        world.learn(f"zebra queue broke, cause N{number}", kind="note", at=f"{month}-15T12:00:00.000Z")
    world.catch_up()
    recaller = Recaller(world.paths, Settings(), lambda: seconds_of("2026-06-01T10:00:00.000Z"))
    items = recaller.recall(query, project="shop")["items"]
    assert len(items) == 4  # a hint, no filter
    assert items[0]["at"].startswith(wanted)
