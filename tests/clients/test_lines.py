from __future__ import annotations

import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.clients import lines
from catmem.clients.lines import Shortener, full_size, left_out, read_lines, records_of, shortened


def test_lines_carry_their_place_and_whether_they_ended() -> None:
    found = list(read_lines(io.BytesIO(b"ab\n\ncd")))
    assert [(line.number, line.start, line.end, line.raw, line.ended) for line in found] == [
        (1, 0, 3, b"ab", True),
        (2, 3, 4, b"", True),
        (3, 4, 6, b"cd", False),
    ]


def test_reading_goes_on_from_an_offset() -> None:
    found = list(read_lines(io.BytesIO(b"ab\ncd\n"), 3, 1))
    assert [(line.number, line.start, line.raw) for line in found] == [(2, 3, b"cd")]


@given(st.lists(st.binary(max_size=40).filter(lambda b: b"\n" not in b), max_size=20))
def test_every_byte_belongs_to_one_line_whatever_the_block(parts: list[bytes]) -> None:
    data = b"\n".join(parts)
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.setattr(lines, "BLOCK", 7)
        found = list(read_lines(io.BytesIO(data)))
    assert b"".join((line.raw or b"") + (b"\n" if line.ended else b"") for line in found) == data
    assert [line.start for line in found] == [0, *(line.end for line in found[:-1])][: len(found)]


@given(st.text(max_size=300), st.integers(1, 9), st.integers(1, 60))
def test_a_shortened_string_is_json_of_a_prefix(text: str, step: int, limit: int) -> None:
    for ascii_only in (True, False):
        data = json.dumps({"a": text, "b": 1}, ensure_ascii=ascii_only).encode("utf-8", "replace")
        shortener = Shortener(limit)
        for start in range(0, len(data), step):
            shortener.feed(data[start : start + step])
        value = json.loads(shortener.close() or b"")
        assert value["b"] == 1
        kept = re.sub(r" \[…\d+ bytes left out\]\Z", "", value["a"])
        assert json.loads(data)["a"].startswith(kept)
        assert len(kept.encode("utf-8", "replace")) <= max(limit, 0) or kept == json.loads(data)["a"]


def test_a_long_line_costs_its_limit_and_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONG_LINE", 1000)
    monkeypatch.setattr(lines, "BLOCK", 512)
    data = json.dumps({"image": "QUJD" * 1_000_000, "text": "猫"}, ensure_ascii=False).encode() + b"\n{}\n"
    long, short = read_lines(io.BytesIO(data))
    assert long.raw is not None and len(long.raw) < 1_100_000
    value = json.loads(long.raw)
    assert value["text"] == "猫"
    assert full_size(value["image"]) == 4_000_000
    assert (short.number, short.raw) == (2, b"{}")


def test_a_line_that_stays_too_long_is_given_up_and_the_next_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LINE_LIMIT", 2000)
    monkeypatch.setattr(lines, "LONG_LINE", 1000)
    monkeypatch.setattr(lines, "BLOCK", 512)
    found = list(read_lines(io.BytesIO(b"[" + b"1," * 5000 + b"1]\n{}\n")))
    assert [line.raw for line in found] == [None, b"{}"]


@given(st.text(max_size=200), st.integers(60, 300))
def test_shortened_fits_and_counts(text: str, limit: int) -> None:
    cut = shortened(text, limit)
    assert len(cut.encode()) <= limit
    assert cut == text or full_size(cut) == len(text.encode())


def test_shortening_twice_keeps_the_count() -> None:
    once = shortened("x" * 1000, 500)
    twice = shortened(once, 200)
    assert full_size(once) == full_size(twice) == 1000
    assert twice.endswith(left_out(1000 - twice.count("x")))


@pytest.mark.parametrize(
    ("raw", "values", "fault"),
    [
        (b'{"a":1}', [{"a": 1}], False),
        (b'\xef\xbb\xbf{"a":1}\r', [{"a": 1}], False),
        (b'{"a":1}{"a":2}', [{"a": 1}, {"a": 2}], False),
        (b'\x00\x00\x00{"a":1}', [{"a": 1}], False),
        (b'{"a":"tab\there"}', [{"a": "tab\there"}], False),
        (b'{"a":"caf' + b'\xe9"}', [{"a": "caf\ufffd"}], False),
        (rb'{"a":"\p"}', [], True),
        (b'{"a":1}{"b', [{"a": 1}], True),
        (b'{"type":"x","t":"torn {"type":"user","n":2}', [{"type": "user", "n": 2}], True),
        (b"[" * 100_000, [], True),
        (b"", [], False),
    ],
)
def test_records_of_a_line(raw: bytes, values: list[object], fault: bool) -> None:
    found, reason = records_of(raw, re.compile(r'\{"type"'))
    assert found == values
    assert bool(reason) is fault
