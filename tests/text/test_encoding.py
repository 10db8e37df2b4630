"""What may be stored, how lines are decoded, what a terminal may be shown."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.text.encoding import clean, decode_line, printable, sniff

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=200)


@given(ANY_TEXT)
def test_clean_text_encodes_and_is_clean_already(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\x00" not in cleaned
    assert clean(cleaned) == cleaned


@given(st.text(max_size=200))
def test_good_text_is_not_touched(text: str) -> None:
    if "\x00" not in text:
        assert clean(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("value \udcb2 read", "value \ufffd read"),
        ("\ud83d\ude00 笑", "\U0001f600 笑"),
        ("\ud83e alone", "\ufffd alone"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("甲\x00乙", "甲\ufffd乙"),
        ("\x1b[31mred\x07", "\x1b[31mred\x07"),
    ],
)
def test_halves_of_pairs_and_nul(before: str, after: str) -> None:
    assert clean(before) == after


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\xef\xbb\xbf{}\r\n", "{}"),
        ("端口 8443\n".encode(), "端口 8443"),
        (b"caf\xe9", "caf\ufffd"),
        (b"a\rb\r\n", "a\rb"),
        (b"\xef\xbb\xbf\xef\xbb\xbfx", "\ufeffx"),
        (b"", ""),
    ],
)
def test_decode_line(raw: bytes, text: str) -> None:
    assert decode_line(raw) == text


@given(st.binary(max_size=100))
def test_any_bytes_decode(raw: bytes) -> None:
    clean(decode_line(raw)).encode("utf-8")


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ('{"a": 1}'.encode("utf-16"), "UTF-16"),
        ('{"role": "user"}'.encode("utf-16-le"), "UTF-16"),
        ('{"role": "user"}'.encode("utf-16-be"), "UTF-16"),
        ('{"a": 1}'.encode("utf-32"), "UTF-32"),
        (b"PK\x03\x04rest", "zip"),
        (b"\x1f\x8b\x08", "gzip"),
        (b"\x28\xb5\x2f\xfd\x00", "zstd"),
        (b"SQLite format 3\x00\x10\x00", "SQLite"),
        (b'\xef\xbb\xbf{"a": 1}', None),
        ('{"a": "登录"}'.encode(), None),
        (b"alpha\x00beta is the tag", None),
        (b"", None),
    ],
)
def test_sniff(raw: bytes, name: str | None) -> None:
    assert sniff(raw) == name


@given(ANY_TEXT)
def test_nothing_printable_commands_a_terminal(text: str) -> None:
    shown = printable(text)
    shown.encode("utf-8")
    for letter in shown:
        assert letter in "\n\t" or (ord(letter) >= 0x20 and not 0x7F <= ord(letter) < 0xA0)
        assert letter not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"


def test_printable_shows_what_it_takes() -> None:
    assert printable("\x1b[31m红\x1b[0m\tok\n\x07") == "\u241b[31m红\u241b[0m\tok\n\u2407"
    assert printable("user\u202egpj.exe") == "user<U+202E>gpj.exe"
    assert json.loads(json.dumps(printable("\ud800"))) == "\ufffd"
