"""Times of day in either language, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.text.clock_times import without_clock_times

NINE_THIRTY = 9 * 60 + 30


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("standup at 9:30", NINE_THIRTY),
        ("at 9:30 am sharp", NINE_THIRTY),
        ("9:30 p.m.", 12 * 60 + NINE_THIRTY),
        ("backups at 3pm", 15 * 60),
        ("12 am", 0),
        ("12 pm", 12 * 60),
        ("at 5 o'clock", 5 * 60),
        ("24:00", 0),
        ("早上九点半", NINE_THIRTY),
        ("下午3点", 15 * 60),
        ("中午12点", 12 * 60),
        ("中午1点", 13 * 60),
        ("晚上十一点", 23 * 60),
        ("晚上12点", 0),
        ("每天 9 点", 9 * 60),
        ("周五五点发版", 5 * 60),
        ("10点30分", 10 * 60 + 30),
        ("三点钟", 3 * 60),
    ],
)
def test_a_time_is_read_and_taken_out(text: str, minutes: int) -> None:
    rest, found = without_clock_times(text)
    assert found == [minutes] and not any(map(str.isdigit, rest)) and "点" not in rest


@pytest.mark.parametrize(
    "text",
    [
        "images are 16:9", "localhost:8080", "10.0.0.3:80", "version 1.12:30", "12:30:45", "25:10", "three points",
        "注意三点：先测试", "有两点建议", "重点是测试", "一点也不难",
    ],
)  # fmt: skip
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert without_clock_times(text) == (text, [])


@given(st.text(alphabet="0123456789:apm. 上下午早晚中零一二三十点半分钟每天在时", max_size=20))
def test_any_text_is_safe_and_every_time_is_of_one_day(text: str) -> None:
    assert all(0 <= minutes < 24 * 60 for minutes in without_clock_times(text)[1])
