"""Time: text or number, with or without a zone, and nothing that is no time becomes one."""

from __future__ import annotations

import time
from datetime import UTC, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.clock import local_day, now, parse_instant, seconds_of, shifted, stamp


@pytest.fixture
def zone(monkeypatch):
    def set_zone(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()


@given(st.integers(946684800_000, 253402300799_000))
def test_a_stamp_reads_back_to_the_millisecond_and_sorts_as_text(milliseconds):
    text = stamp(milliseconds / 1000)
    assert round(seconds_of(text) * 1000) == milliseconds and len(text) == 24
    assert stamp((milliseconds + 1) / 1000) > text
    assert parse_instant(text) == (text, True)


@given(
    st.one_of(
        st.none(), st.booleans(), st.text(max_size=30), st.floats(), st.integers(), st.binary(), st.lists(st.integers())
    )
)
def test_whatever_comes_is_a_time_of_our_age_or_none(value):
    found = parse_instant(value)
    if found is not None:
        assert "2000-01-01T" <= found[0] < "9999-12-31T23:59:59.9999" and len(found[0]) == 24


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-04-15T16:30:00.000Z", "2026-04-15T16:30:00.000Z"),
        ("2026-04-16T00:30:00+08:00", "2026-04-15T16:30:00.000Z"),
        ("2026-11-01T01:30:00-04:00", "2026-11-01T05:30:00.000Z"),
        ("2026-11-01T01:30:00-05:00", "2026-11-01T06:30:00.000Z"),
        (1776270600123, "2026-04-15T16:30:00.123Z"),
        (1776270600.285, "2026-04-15T16:30:00.285Z"),
        ("1776270600", "2026-04-15T16:30:00.000Z"),
        (" 2026-04-15T16:30:00z ", "2026-04-15T16:30:00.000Z"),
        ("2026-04-15 16:30:00.1234567+00:00", "2026-04-15T16:30:00.123Z"),
    ],
)
def test_a_certain_time(value, expected):
    assert parse_instant(value) == (expected, True)


@pytest.mark.parametrize(
    "value",
    [None, "", "  ", True, 0, 0.0, -5, 42, "42", "soon", "昨天", float("nan"), float("inf"), 10**400, 1e300, [], {}, b"x",
     "1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01", "9999-12-31T23:59:59-12:00", "2026-13-01", "nan", "1e400"],
)  # fmt: skip
def test_what_is_no_time_is_none_and_never_1970(value):
    assert parse_instant(value) is None


@pytest.mark.parametrize(
    ("name", "expected"), [("Asia/Shanghai", "2026-04-15T16:30:00.000Z"), ("UTC0", "2026-04-16T00:30:00.000Z")]
)
def test_a_time_without_zone_is_the_machines_and_uncertain(zone, name, expected):
    zone(name)
    assert parse_instant("2026-04-16T00:30:00") == (expected, False)
    assert parse_instant("2026-04-16 00:30:00") == (expected, False)


def test_a_day_alone_is_its_start_and_a_zone_may_be_named(zone):
    zone("Asia/Shanghai")
    assert parse_instant("2026-04-16") == ("2026-04-15T16:00:00.000Z", False)
    assert parse_instant("20260416") == ("2026-04-15T16:00:00.000Z", False)
    assert parse_instant("2026-04-16T00:30:00", UTC) == ("2026-04-16T00:30:00.000Z", False)
    assert parse_instant("2026-04-16T00:30:00", timezone(timedelta(hours=8)))[0] == "2026-04-15T16:30:00.000Z"


@pytest.mark.parametrize(("name", "day"), [("Asia/Shanghai", "2026-04-16"), ("America/New_York", "2026-04-15")])
def test_the_day_is_the_users(zone, name, day):
    zone(name)
    assert local_day("2026-04-15T16:30:00.000Z") == day
    assert local_day("2026-04-15T22:00:00.000Z") == ("2026-04-16" if "Asia" in name else "2026-04-15")


def test_a_clock_is_turned_and_a_stamp_shifted():
    assert now(lambda: 1767583930.285) == "2026-01-05T03:32:10.285Z"
    assert shifted("2026-03-01T00:00:00.000Z", days=-1, minutes=5) == "2026-02-28T00:05:00.000Z"
