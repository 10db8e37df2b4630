from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.distil.units import Unit, units_of

_PROSE = [
    "hello",
    "以后都用",
    "。",
    ". ",
    "! ",
    "?",
    " ",
    "\n",
    "\r\n",
    "\n\n",
    "“",
    "”",
    ":",
    "：",
    "…",
    "e.g. ",
    "3.8",
    "a.py",
]
_SHOWN = ["```", '"""', "'''", "> ", "- ", "1. ", "    ", "\t", "`x. y`", "From: a", "The README says: ", "x=1", "{"]
_FRAGMENTS = st.sampled_from([*_PROSE, *_SHOWN])
_MESSAGES = st.one_of(st.text(max_size=200), st.lists(_FRAGMENTS, max_size=30).map("".join))


def texts(content: str) -> list[str]:
    return [unit.text for unit in units_of(content)]


def only(content: str) -> Unit:
    (unit,) = units_of(content)
    return unit


@given(_MESSAGES)
def test_units_are_trimmed_pieces_of_the_message_in_order(content: str) -> None:
    end = 0
    for unit in units_of(content):
        assert unit.text == content[unit.start : unit.end] == unit.text.strip() != ""
        assert unit.start >= end
        assert "\n" not in unit.text
        end = unit.end


@given(_MESSAGES)
def test_no_word_is_lost_but_fence_lines_and_list_marks(content: str) -> None:
    if any(mark in content for mark in ("```", "~~~", '"""', "'''")):
        return
    outside = list(content)
    for unit in units_of(content):
        outside[unit.start : unit.end] = [""] * (unit.end - unit.start)
    assert not [c for c in outside if c.isalpha() and c not in "xX"]


@pytest.mark.parametrize(
    ("content", "sentences"),
    [
        ("hm. ok so, tabs from now on! fine?", ["hm.", "ok so, tabs from now on!", "fine?"]),
        ("We pin Python 3.8, see build.py. It stays.", ["We pin Python 3.8, see build.py.", "It stays."]),
        ("use a linter, e.g. ruff, in CI", ["use a linter, e.g. ruff, in CI"]),
        ("see https://a.example/x?y=1.2 for it. ok", ["see https://a.example/x?y=1.2 for it.", "ok"]),
        ("not `a. b` but `c`. Right", ["not `a. b` but `c`.", "Right"]),
        ("well... we stay on gulp", ["well... we stay on gulp"]),
        ("好的。以后都用 tab；别用空格！明白吗？", ["好的。", "以后都用 tab；别用空格！", "明白吗？"]),
        ("跑通了.然后把日志删掉", ["跑通了.", "然后把日志删掉"]),
        ("主题叫 域.实体.动作，全小写", ["主题叫 域.实体.动作，全小写"]),
        ("他说“可以。”我就改了。", ["他说“可以。”", "我就改了。"]),
        ("one\ntwo\r\n\r\nthree", ["one", "two", "three"]),
        ("?! ...", []),
    ],
)
def test_where_sentences_end(content: str, sentences: list[str]) -> None:
    assert texts(content) == sentences


def test_list_marks_are_left_out_and_told() -> None:
    units = units_of("rules:\n- names in kebab case\n2) no globals\n① 不用全局变量\n3、接口都带版本")
    assert [(u.text, u.listed) for u in units] == [
        ("rules:", False),
        ("names in kebab case", True),
        ("no globals", True),
        ("不用全局变量", True),
        ("接口都带版本", True),
    ]


def test_fences_hold_until_they_are_closed_or_the_message_ends() -> None:
    units = units_of("看这段\n```yaml\nalways: true\n```\n以后都这样\n```\nnever closed")
    assert [(u.text, u.fenced) for u in units] == [
        ("看这段", False),
        ("always: true", True),
        ("以后都这样", False),
        ("never closed", True),
    ]


def test_an_indented_block_is_code_and_an_indented_list_is_not() -> None:
    units = units_of("like this\n    use_tabs(yes)\nand\n    - spaces in yaml")
    assert [u.fenced for u in units] == [False, True, False, False]


@pytest.mark.parametrize(
    "line",
    [
        "2026-03-01 10:00:00,123 INFO always retrying",
        "[ERROR] we never got an answer",
        'File "/srv/app.py", line 3, in run',
        "ValueError: must always be positive",
        "    at com.example.Main.run(Main.java:12)",
        "$ make deploy",
        "| name | rule |",
        "const width = 80;",
        "indent_size = 4",
        "SELECT * FROM orders WHERE id = 1",
        '{"always": true, "never": false}',
        "https://example.org/guide",
        "npm ERR! code ELIFECYCLE",
    ],
)
def test_pasted_lines(line: str) -> None:
    units = units_of(f"look\n{line}\nhm")
    assert [u.own for u in units] == [True, False, True]


@pytest.mark.parametrize(
    "line",
    [
        "from now on use pnpm in here",
        "import of the old contacts waits for Tuesday",
        "the staging box is Debian 12, 4 cores, 8 GB, no swap",
        "configs live in /etc/app/conf.d and nowhere else",
        "生产机是 CentOS 7，glibc 2.17，升不了",
        "commit 都写成 feat(scope): 描述 这种",
        "remember: ids are uuid7 everywhere",
        "select the nearest depot by road, never by air line",
    ],
)
def test_what_people_say_is_not_taken_for_pasted(line: str) -> None:
    assert only(line).own


def test_two_rows_make_a_table_and_one_does_not() -> None:
    assert only("env: prod").own
    assert not any(u.own for u in units_of("region: eu\ntier: gold\nowner: ops"))


@pytest.mark.parametrize(
    "content",
    [
        "> we always squash here",
        '"We always use raw counts, never normalised ones"',
        "“一律使用驼峰命名，禁止下划线”",
        "The README says: always run the formatter.",
        'their wiki says "never store files in the database"',
        "文档里写着“统一用 UTF-8 编码”",
        "From: Ann\nSubject: rules\n\nAlways answer within a day.",
    ],
)
def test_other_peoples_words_are_quoted(content: str) -> None:
    assert not any(unit.own for unit in units_of(content))


def test_a_quote_that_is_announced_ends_with_its_paragraph() -> None:
    units = units_of("their mail says:\nAlways use capitals.\n\nand I never do")
    assert [(u.text, u.quoted) for u in units] == [
        ("their mail says:", False),
        ("Always use capitals.", True),
        ("and I never do", False),
    ]


@pytest.mark.parametrize(
    "content",
    [
        'call the column "amount_due", not "due"',
        "标题里别写“关于”两个字",
        "as I said: tabs only",
        "我再说一遍：接口返回都要带 trace_id",
        "it's the user's choice, isn't it",
    ],
)
def test_terms_in_quote_marks_stay_the_writers_words(content: str) -> None:
    assert all(unit.own for unit in units_of(content))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("Label the intent of this talk:\nCustomer: remember, I always pay by card", "remember, I always pay by card"),
        ("给这条对话打标签：\n用户：记住，以后都送到前台", "记住，以后都送到前台"),
        ("rate these replies\nUser: never call me\nAgent: noted", "never call me"),
    ],
)
def test_lines_of_a_talk_that_is_shown_are_not_the_writers_words(content: str, shown: str) -> None:
    assert all(not unit.own for unit in units_of(content) if shown in content and shown.split()[-1] in unit.text)


def test_a_role_alone_in_a_first_line_is_still_the_writers() -> None:
    assert any(unit.own for unit in units_of("User: settings live in ~/.config/berth.toml"))
