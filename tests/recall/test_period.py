"""Days in a query, in both languages and any zone: read where they are the time meant, left alone where not."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.clock import local_day, stamp
from catmem.recall.period import period_in
from tests.recall.zones import zone

NOON = datetime(2026, 4, 15, 12)  # a Wednesday


def read(words: str):
    rest, period = period_in(words, NOON.astimezone().timestamp())
    return rest, period and (local_day(period["since"]), local_day(period["until"]))


@pytest.mark.parametrize("place", ["UTC", "Asia/Shanghai", "America/New_York", "Pacific/Chatham"])
@pytest.mark.parametrize(
    ("words", "first", "last"),
    [
        ("deploy yesterday", "2026-04-14", "2026-04-14"),
        ("Yesterday's deploy", "2026-04-14", "2026-04-14"),
        ("deploy the day before yesterday", "2026-04-13", "2026-04-13"),
        ("deploy today", "2026-04-15", "2026-04-15"),
        ("deploy 3 days ago", "2026-04-12", "2026-04-12"),
        ("deploy last week", "2026-04-06", "2026-04-12"),
        ("deploy this week", "2026-04-13", "2026-04-19"),
        ("deploy last month", "2026-03-01", "2026-03-31"),
        ("deploy this month", "2026-04-01", "2026-04-30"),
        ("deploy last year", "2025-01-01", "2025-12-31"),
        ("昨天部署了什么", "2026-04-14", "2026-04-14"),
        ("前天的部署", "2026-04-13", "2026-04-13"),
        ("今天 部署", "2026-04-15", "2026-04-15"),
        ("3天前的部署", "2026-04-12", "2026-04-12"),
        ("我们上周部署到哪里", "2026-04-06", "2026-04-12"),
        ("上个星期的部署", "2026-04-06", "2026-04-12"),
        ("本周部署", "2026-04-13", "2026-04-19"),
        ("这周部署", "2026-04-13", "2026-04-19"),
        ("上个月部署", "2026-03-01", "2026-03-31"),
        ("去年部署", "2025-01-01", "2025-12-31"),
    ],
)
def test_days_of_the_calendar_here(place, words, first, last):
    with zone(place):
        rest, days = read(words)
    assert days == (first, last)
    assert "deploy" in rest or "部署" in rest


@pytest.mark.parametrize(
    "words",
    [
        "yesterday", "what did we do yesterday?", "昨天", "上周呢", "deploy since yesterday", "部署 昨天之前",
        "目前天气 接口", "日本周刊 排版", "上周末 部署", "大前天部署", "晚上月亮 部署", "the last week of march deploy",
        'the word "yesterday" in the deploy', "“昨天”这个词在部署里", "lastweek deploy", "deploy",
    ],
)  # fmt: skip
def test_what_is_no_plain_day_stays_in_the_words(words):
    assert read(words) == (words, None)


def test_a_day_of_23_hours():
    with zone("America/New_York"):
        _, period = period_in("deploy yesterday", datetime(2026, 3, 9, 12).astimezone().timestamp())
    assert period == {
        "words": "yesterday", "since": "2026-03-08T05:00:00.000Z", "until": "2026-03-09T03:59:59.999Z"
    }  # fmt: skip


@given(
    st.text(max_size=60),
    st.sampled_from(["yesterday", "昨天", "last week", "9999 days ago", "上个月"]),
    st.text(max_size=60),
)
def test_any_text_is_safe(before, day, after):
    now = NOON.timestamp()
    rest, period = period_in(f"{before} {day} {after}", now)
    if period is None:
        assert rest == f"{before} {day} {after}"
    else:
        assert period["since"] < period["until"] and period["since"] < stamp(now)
