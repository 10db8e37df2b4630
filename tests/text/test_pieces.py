"""Pieces lose nothing that was said and are as short as they shall be; sentences are those of either language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.text.pieces import DENSE, LATIN, pieces_of, script_of, sentences_of


@given(st.text(max_size=400), st.integers(5, 60))
def test_every_word_is_in_a_piece_in_its_order(text: str, most: int) -> None:
    assert "".join("".join(pieces_of(text, most)).split()) == "".join(text.split())


@given(st.text(alphabet="ab 。.!\n中文字", max_size=600))
def test_no_piece_is_longer_than_it_shall_be(text: str) -> None:
    assert all(len(piece) * 0.25 <= 20 + 1 for piece in pieces_of(text, 20))
    assert all(sum(c >= "\u2e80" for c in piece) * 0.7 <= 20 + 1 for piece in pieces_of(text, 20))


def test_a_short_text_is_one_piece() -> None:
    assert pieces_of("Deploy on Fridays?\nNever. 周五不发版。") == ["Deploy on Fridays?\nNever. 周五不发版。"]


def test_it_is_cut_where_lines_and_sentences_end() -> None:
    assert pieces_of("one two three.\nfour five six.", 5) == ["one two three.", "four five six."]
    assert pieces_of("我们用端口五四三九。你们用别的端口。", 9) == ["我们用端口五四三九。", "你们用别的端口。"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Hello. Which port? 5439!", ["Hello.", "Which port?", "5439!"]),
        ("你好。端口是多少？\n五四三九", ["你好。", "端口是多少？", "五四三九"]),
        ("v1.2.3 of src/core/x.py", ["v1.2.3 of src/core/x.py"]),
        ("…\n---\n", []),
        ("", []),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == sentences


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("hello", LATIN),
        ("你好", DENSE),
        ("用 pnpm 装依赖", DENSE),
        ("the word 词 in an English text", LATIN),
        ("", LATIN),
    ],
)
def test_scripts(text: str, script: int) -> None:
    assert script_of(text) == script
