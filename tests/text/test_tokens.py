"""What a text is found by, in both languages and in code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.text.stemming import stem
from catmem.text.tokens import STOPWORDS, content_tokens, passage_tokens, query_tokens, tokens


@given(st.text(max_size=300))
def test_tokens_hold_no_blank_and_nothing_raises(text: str) -> None:
    for token in [*tokens(text), *query_tokens(text), *content_tokens(text)]:
        assert token
        assert not any(letter.isspace() for letter in token)
        assert token == token.strip()


@given(st.text(max_size=200))
def test_a_document_holds_every_token_of_itself_as_a_query(text: str) -> None:
    words, pairs = passage_tokens(text)
    assert set(query_tokens(text)) <= {*words, *pairs} <= {*tokens(text), "·"}
    assert len(words) == len(pairs) == len(tokens(text)) and "·" not in query_tokens(text)


def test_a_passage_has_words_and_pairs_apart_and_a_character_only_where_it_stands_alone() -> None:
    words, pairs = passage_tokens("先灰度 a 再")
    assert words == ["a", *"······"] and pairs == ["先灰", "灰度", "再", *"····"]


@given(st.text(st.characters(codec="ascii"), max_size=80))
def test_case_does_not_matter_to_plain_words(text: str) -> None:
    words = " ".join(word.lower() for word in text.split() if word.isalpha())
    assert tokens(words) == tokens(words.upper())


def finds(query: str, text: str) -> bool:
    return bool(set(query_tokens(query)) & set(tokens(text)))


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("登录", "我们的登录服务用的是端口 8443"),
        ("端口", "我们的登录服务用的是端口 8443"),
        ("用户身份", "用户身份验证改成短信加密码"),
        ("灰", "部署方案：先灰度再全量"),
        ("docker 部署", "用 docker 部署"),
        ("火曜日", "会議は毎週火曜日の朝にする"),
        ("テスト", "検索ﾃｽﾄは通った"),
        ("결제", "결제 서버는 서울 리전에 둔다"),
        ("𠮷野家", "𠮷野家 account uses invoice billing"),
        ("itgc", "重跑gen-itgc后五十条悬空引用清零"),
        ("ＤＢ", "The db password rotates"),
        ("user name", "getUserName()"),
        ("get_user_name", "call getUserName here"),
        ("getUserName", "call get-user-name here"),
        ("connection refused", "ERR_CONNECTION_REFUSED"),
        ("node:test", "we run node:test only"),
        ("1.2.3", "released v1.2.3 today"),
        ("python 3.11", "pinned to 3.11.7"),
        ("x.py", "see src/core/x.py"),
        ("src/core/x.py", "see src/core/x.py."),
        ("C++", "C++ and C# builders"),
        ("c#", "C++ and C# builders"),
        (".NET", "the .NET build"),
        ("#123", "fixes #123"),
        ("oauth", "OAuth2 login"),
        ("cafe", "Café"),
        ("precommit", "the pre-commit hook"),
        ("don't", "dont do it"),
        ("user", "the user's name"),
        ("GB/s", "above 5 GB/s"),
        ("--error-on-warnings", "Set --error-on-warnings in CI"),
        ("caches", "caching is on"),
        ("straße", "STRASSE"),
        ("привет", "Привет, мир"),
    ],
)
def test_found(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("db", "用户身份验证，feedback and goodbye"),
        ("c", "C++ and C# builders"),
        ("port", "Support the airport transport"),
        ("note", "not now"),
        ("rate", "rats"),
        ("密码", "密封的号码"),
        ("new", "news"),
        ("set", "settings"),
        ("*", "a * b"),
        ("(", "f(x)"),
        ("   ", "blank"),
        ("", "empty"),
    ],
)
def test_not_found(query: str, text: str) -> None:
    assert not finds(query, text)


@pytest.mark.parametrize(
    "family",
    [
        "use uses used using",
        "cache caches cached caching",
        "note notes noted noting",
        "plan plans planned planning",
        "install installs installed installing",
        "control controls controlled controlling",
        "query queries queried querying",
        "enable enables enabled enabling",
        "update updates updated updating",
        "close closes closed closing",
        "class classes",
        "database databases",
        "index indexes indexed indexing indices",
        "open opened opening",
        "configure configured configuring",
        "monitor monitored monitoring",
        "deploy deploys deployed deploying",
        "pass passes passed passing",
        "commit commits committed",
        "refactor refactored refactoring",
        "setting settings",
        "status statuses",
        "key keys",
        "issue issues",
    ],
)
def test_inflections_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize(
    "different",
    [
        "note not",
        "plane plan",
        "rate rat",
        "news new",
        "string str",
        "setting set",
        "need nee",
        "https http",
        "thing th",
    ],
)
def test_other_words_keep_apart(different: str) -> None:
    words = different.split()
    assert len({stem(word) for word in words}) == len(words)


@given(st.text(st.characters(categories=("Ll",), codec="ascii"), min_size=1, max_size=14))
def test_a_stem_is_never_empty_and_begins_like_its_word(word: str) -> None:
    assert stem(word)
    assert stem(word)[0] == word[0]


def test_small_talk_has_no_content() -> None:
    for text in ["thanks", "ok, go on please", "谢谢", "好的，继续", "ありがとう", "NOT OR AND", "   ", "…"]:
        assert content_tokens(text) == [], text


def test_content_is_what_is_left() -> None:
    assert content_tokens("what is the database port?") == ["database", "port"]
    assert "端口" in content_tokens("我们的端口是多少")
    assert "我们" not in content_tokens("我们的端口是多少")
    assert "1" in content_tokens("' OR 1=1 --")
    assert "the" in STOPWORDS


def test_blobs_are_no_terms() -> None:
    assert tokens("x" * 65) == []
    assert max(map(len, tokens("a/" * 200 + "b"))) <= 64
    assert tokens("3f2a91c") == ["3f2a91c"]
