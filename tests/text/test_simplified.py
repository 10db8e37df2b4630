"""Traditional and simplified Chinese are one for a search, in both directions and mixed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.text import stopwords
from catmem.text.simplified import simplified, spellings
from catmem.text.tokens import content_tokens, query_tokens, tokens

PAIRS = (
    ("数据库迁移", "數據庫遷移"),
    ("发布之后检查头发", "發佈之後檢查頭髮"),
    ("干净的环境，干活的人", "乾淨的環境，幹活的人"),
    ("后台和皇后", "後臺和皇后"),
    ("台风经过台湾的柜台", "颱風經過臺灣的櫃檯"),
    ("面条里面", "麵條裡面"),
    ("关系联系着", "關係聯繫著"),
    ("复杂的答复，重复的回复", "複雜的答覆，重複的回復"),
    ("只有一只", "祇有一隻"),
    ("计划", "計畫"),
    ("用户为什么说", "用戶爲什麽説"),
    ("线上群组", "綫上羣組"),
)


@pytest.mark.parametrize(("simple", "traditional"), PAIRS)
def test_both_have_the_same_tokens(simple: str, traditional: str) -> None:
    assert tokens(simple) == tokens(traditional)
    assert query_tokens(simple) == query_tokens(traditional)
    for mixed in (simple[: len(simple) // 2] + traditional[len(simple) // 2 :], traditional[0] + simple[1:]):
        assert tokens(mixed) == tokens(simple)


@given(st.text(max_size=200))
def test_length_and_places_stay_and_twice_is_once(text: str) -> None:
    folded = simplified(text)
    assert len(folded) == len(text) and simplified(folded) == folded


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=1, max_size=2))
def test_each_spelling_is_folded_to_the_same(word: str) -> None:
    told = spellings(word)
    assert word in told and told[0] == simplified(word)
    assert {simplified(spelled) for spelled in told} == {simplified(word)}


@pytest.mark.parametrize("text", ["カタカナとひらがな", "検索テスト", "결제 서버", "ไทย", "plain words", "𠮷野家", ""])
def test_what_is_no_chinese_stays(text: str) -> None:
    assert simplified(text) == text


def test_words_that_differ_stay_apart() -> None:
    for one, other in (("图像", "大象"), ("链接", "炼钢"), ("数据", "据点"), ("前端", "后端")):
        assert tokens(one)[-1] != tokens(other)[-1]


def test_the_lists_of_stopwords_are_written_as_tokens_are() -> None:
    for words in (stopwords.CHINESE_CHARACTERS, *stopwords.CHINESE_PAIRS, *stopwords.JAPANESE_PAIRS):
        assert simplified(words) == words
    assert content_tokens("謝謝，繼續") == content_tokens("谢谢，继续") == []
