"""The table of words for the same thing is well made, and its lookup is safe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.text.concept_words import CONCEPTS
from catmem.text.concepts import NAME, bridges
from catmem.text.simplified import simplified
from catmem.text.tokens import query_tokens, tokens

LINES = CONCEPTS.strip().split("\n")


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.split("|")[0])
def test_a_line_is_written_as_queries_are(line: str) -> None:
    words = [word.removeprefix(NAME) for word in line.split("|")]
    assert len(set(words)) == len(words) > 1
    for word in words:
        assert word == word.strip() and "；" not in word and "," not in word
        if word.isascii():
            assert " ".join(tokens(word)) == word
        else:
            assert 2 <= len(word) <= 8 and word == simplified(word)
        assert bridges(query_tokens(word)), word


def test_nearly_every_concept_has_words_of_both_languages() -> None:
    assert all(any(w.isascii() for w in line.split("|")) and not line.isascii() for line in LINES)
    assert 150 <= len(LINES) == len(set(LINES)) <= 350


def test_a_name_stands_for_its_kind_and_for_no_other_name() -> None:
    (bridge,) = bridges(["pnpm"])
    others = [word for word, _ in bridge.others]
    assert "package manager" in others and "npm" not in others
    (bridge,) = bridges(["package", "manager"])
    assert {"pnpm", "npm", "包管理器"} <= {word for word, _ in bridge.others}


@given(st.text(max_size=80))
def test_any_text_is_safe_and_a_word_is_not_its_own_other(text: str) -> None:
    said = query_tokens(text)
    for bridge in bridges(said):
        assert bridge.others and all(written and written != bridge.said for _, written in bridge.others)
        assert set(bridge.said) <= set(said)
