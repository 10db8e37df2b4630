"""What a memory of an earlier session does for a sentence that says little by itself."""

from __future__ import annotations

import pytest

from tests.distil.talks import Remembered

FIRST, THEN = 1, 20


def after(first: str, later: str) -> tuple[list[str], list[str]]:
    """What stands and what is gone after a statement in one session and another in a later one."""
    memories = Remembered()
    memories.session(f"U: {first}", "A: OK.", day=FIRST)
    memories.session("U: one more thing", "A: Yes?", f"U: {later}", "A: Done.", day=THEN)
    return memories.texts(), memories.gone()


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("we target Python 3.9", "Python is 3.12 from now on"),
        ("tests run on mocha and chai", "we switched to vitest"),
        ("our staging runs on Heroku", "staging is on Render now"),
        ("UI kit is Bootstrap", "bootstrap got replaced by Tailwind"),
        ("deploys happen on Tuesdays", "deploys happen on Thursdays now"),
        ("线上用的是 MySQL 5.7", "线上升到 MySQL 8 了"),
        ("状态管理用 Vuex", "Vuex 都迁成 Pinia 了"),
        ("日志保留 7 天", "日志保留改成 30 天"),
    ],
)
def test_a_change_of_what_is_known_is_kept_in_its_place(first: str, later: str) -> None:
    live, gone = after(first, later)
    assert live == [later]
    assert gone == [first]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("prod db is Postgres 12", "postgres is slow today"),
        ("tests run on mocha and chai", "the mocha run takes 40 seconds now"),
        ("our staging runs on Heroku", "should staging be on Render now?"),
        ("线上用的是 MySQL 5.7", "MySQL 又连不上了"),
        ("日志保留 7 天", "这次先把日志保留改成 30 天"),
    ],
)
def test_a_report_a_question_or_an_exception_changes_nothing(first: str, later: str) -> None:
    live, gone = after(first, later)
    assert live == [first]
    assert gone == []


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("I prefer tables when you compare things", "comparisons as tables, like always"),
        ("我看流程喜欢画个图", "老规矩，流程画图"),
        ("回答先给结论，再讲原因", "先说结论，原因放后面，跟上次一样"),
    ],
)
def test_a_preference_said_once_more_confirms_the_known_one(first: str, later: str) -> None:
    live, gone = after(first, later)
    assert live == [first]
    assert gone == []


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("I prefer tables when you compare things", "I prefer short commit titles"),
        ("我喜欢先看图", "我喜欢注释写中文"),
    ],
)
def test_another_preference_is_another_memory(first: str, later: str) -> None:
    assert sorted(after(first, later)[0]) == sorted([first, later])
