"""Whether two statements contradict each other, say the same, or are about two things: in both languages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.brief.contrary import Sense, contradict, say_the_same
from catmem.text.sense import sense_of


def sense(text: str) -> Sense:
    return Sense(sense_of(text))


CONTRARY = [
    ("Use tabs", "Don't use tabs"),
    ("Use tabs", "Never use tabs"),
    ("use tabs for indentation", "Use spaces for indentation"),
    ("缩进用空格", "缩进用 tab"),
    ("缩进用 tab", "不要用 tab 缩进"),
    ("Indent with tabs", "缩进用空格"),
    ("Commit messages are in English", "提交信息用中文写"),
    ("Commit messages in Chinese", "提交信息一律用英文"),
    ("Ruff formats at 100 columns", "Ruff formats at 120 columns"),
    ("每行不超过 100 列", "每行不超过 80 列"),
    ("The API listens on port 5439", "The API listens on port 5440"),
    ("端口是 5439", "端口为 5440"),
    ("Commit directly to main", "Never commit directly to main; open a merge request from a topic branch"),
    ("User prefers short answers", "回答要详细"),
    ("The user likes detailed answers", "回答尽量简短"),
    ("Deploy on Fridays", "Don't deploy on Fridays"),
    ("周五不要部署", "Deploy on Fridays"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("Use pnpm instead of npm", "Use npm"),
    ("用 pnpm 而不是 npm", "用 npm"),
    ("写测试", "不写测试"),
    ("提交前跑测试", "提交前不用跑测试"),
    ("Add comments to the code", "No comments in the code"),
    ("Prefers dark theme", "Prefers light theme"),
    ("不喜欢分号", "喜欢分号"),
    ("縮排用空格", "缩排用 tab"),
]
BESIDE_EACH_OTHER = [
    ("Run the tests before each commit", "Don't run tests on battery"),
    ("We use Postgres", "We use Redis"),
    ("The zebra stable 1 has rule number 7", "The zebra stable 2 has rule number 14"),
    ("Sensor 3 is broken", "Sensor 4 is broken"),
    ("Use tabs in Makefiles", "Use spaces in Python"),
    ("Never commit directly to main", "Commit messages are in English"),
    ("回答用中文", "提交信息用英文"),
    ("Staging is at 10.0.0.3", "Production is at 10.0.0.4"),
    ("staging uses port 5439", "production uses port 5440"),
    ("规则 1：提交之前先跑一遍测试", "规则 2：提交之前先跑一遍测试"),
    ("If tests fail, stop", "Run tests"),
    ("Deploy on Fridays", "Deploy on Mondays only to staging"),
]
THE_SAME = [
    ("Use tabs for indentation", "缩进用 tab"),
    ("Commit messages are written in Chinese", "提交信息用中文写"),
    ("Run tests before committing", "Always run tests before committing"),
    ("回答要简短", "Keep answers short"),
    ("Don't use tabs", "不要用 tab"),
    ("部署走 Argo CD", "Deploy with Argo CD"),
    ("Never push to main", "不要 push 到 main"),
]


@pytest.mark.parametrize(("one", "other"), CONTRARY)
def test_what_cannot_both_be_heeded(one: str, other: str) -> None:
    assert contradict(sense(one), sense(other))
    assert contradict(sense(other), sense(one))


@pytest.mark.parametrize(("one", "other"), BESIDE_EACH_OTHER)
def test_what_stands_beside_each_other(one: str, other: str) -> None:
    assert not contradict(sense(one), sense(other))
    assert not say_the_same(sense(one), sense(other))


@pytest.mark.parametrize(("one", "other"), THE_SAME)
def test_one_statement_in_two_wordings(one: str, other: str) -> None:
    assert say_the_same(sense(one), sense(other))
    assert not contradict(sense(one), sense(other))


@given(st.text(), st.text())
def test_any_two_texts_are_safe_and_no_order_counts(one: str, other: str) -> None:
    a, b = sense(one), sense(other)
    assert contradict(a, b) == contradict(b, a)
    assert say_the_same(a, b) == say_the_same(b, a)
