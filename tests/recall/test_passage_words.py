"""A passage has the words that its tokens say, without making them."""

from __future__ import annotations

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from catmem.recall.passage_words import _OTHER_SHAPES, PassageWords, _has_other_shapes
from catmem.text.tokens import query_tokens, without_accents

WORDS = st.lists(
    st.sampled_from(
        [
            "部署",
            "環境",
            "deploy",
            "ｄｅｐｌｏｙ",
            "テスト",
            "ﾃｽﾄ",
            "결제",
            "②",
            "ﬁle",
            "café",
            "Straße",
            "мой",
            "ήλιος",
            "Łódź",
            "Việt",
            "can't",
            "can’t",
            "the user’s",
            "snake_case",
            "pre-commit",
            "，",
            "。",
        ]
    ),
    max_size=8,
)


@given(words=WORDS, blank=st.sampled_from(["", " "]))
def test_it_has_every_word_of_itself(words: list[str], blank: str) -> None:
    text = blank.join(words)
    has = PassageWords(text)
    for word in words:
        if set(query_tokens(word)) <= set(query_tokens(text)):
            assert all(token in has for token in query_tokens(word)), (word, text)


def test_it_has_no_other() -> None:
    has = PassageWords("先灰度，再全量；see support.py")
    assert not any(word in has for word in ("部署", "py3", "up", "全先", "量灰"))
    assert not any(word in PassageWords("port 5433, v21, 端口 node200") for word in ("54", "v2", "20", "od"))


def test_an_identifier_is_parted_between_letters_and_digits() -> None:
    has = PassageWords("用 node20 和 py3 跑；②the user’s")
    assert all(word in has for word in ("node", "20", "py", "the"))


def test_every_letter_that_has_another_shape_is_known() -> None:
    pattern = _has_other_shapes()
    for code in range(0x80, sys.maxunicode + 1):
        character = chr(code)
        plain = without_accents(unicodedata.normalize("NFKC", character))
        if plain.casefold() != character.casefold() and any(map(str.isalnum, plain)):
            assert pattern.search(character), f"{code:x} is missing in {_OTHER_SHAPES}"
