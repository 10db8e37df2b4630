"""Two statements of two languages: the same, or something else, as far as the tables of words tell."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.dream.model.translation import contradict, names_in_order, say_the_same

SAME = [
    ("tests run with pytest", "测试用 pytest 跑"),
    ("commit messages in English", "提交信息用英文"),
    ("Commit messages are written in English.", "提交信息一律用英文写。"),
    ("we deploy on Fridays", "周五部署"),
    ("We never deploy on Fridays.", "周五不部署"),
    ("We indent with tabs", "缩进用制表符"),
    ("Run the tests before deploying", "部署前跑测试"),
    ("code review before merging", "合并前代码评审"),
    ("Use Vitest, not Jest, for tests", "测试用 Vitest，不用 Jest"),
]
DIFFERENT = [
    ("we deploy on Fridays", "周四部署"),
    ("we deploy on Fridays", "周五不部署"),
    ("never deploy on Fridays", "周五部署"),
    ("we indent with tabs", "缩进用空格"),
    ("indent with two spaces", "缩进用四个空格"),
    ("commit messages in English", "提交信息用中文"),
    ("Run the tests before deploying", "部署后跑测试"),
    ("Use Vitest, not Jest, for tests", "测试用 Jest，不用 Vitest"),
    ("migrate from Fooql to Barql", "从 Barql 迁移到 Fooql"),
    ("never log passwords", "日志记录密码"),
    ("We deploy to production by hand", "生产环境自动部署"),
    ("we deploy", "周五部署"),
    ("deploy", "部署"),
    ("the release branch is protected", "发布分支已合并"),
]


@pytest.mark.parametrize(("english", "chinese"), SAME)
def test_the_same(english: str, chinese: str) -> None:
    assert say_the_same(english, chinese) and say_the_same(chinese, english)
    assert not contradict(english, chinese)


@pytest.mark.parametrize(("english", "chinese"), DIFFERENT)
def test_something_else(english: str, chinese: str) -> None:
    assert not say_the_same(english, chinese) and not say_the_same(chinese, english)


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Deploy with ansible on Fridays", "周四用 ansible 部署"),
        ("Use pnpm, never npm", "用 npm，不用 pnpm"),
        ("Never deploy with ansible", "用 ansible 部署"),
        ("We deploy on Fridays", "We deploy on Thursdays"),
        ("We never deploy on Fridays", "We deploy on Fridays"),
        ("周五部署", "周五不部署"),
    ],
)
def test_whatever_two_share_does_not_outweigh_a_contradiction(english: str, chinese: str) -> None:
    assert contradict(english, chinese) and contradict(chinese, english)


def test_from_here_to_there_is_not_from_there_to_here() -> None:
    assert names_in_order("migrate from Fooql to Barql", "从 Fooql 迁移到 Barql")
    assert not names_in_order("migrate from Fooql to Barql", "从 Barql 迁移到 Fooql")


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Install packages with pnpm.", "我们一律用 pnpm 装依赖。"),
        ("Never use redis for the queue", "队列不要用 redis"),
        ("Use pnpm, not npm", "只用 pnpm"),
    ],
)
def test_other_words_around_a_shared_name_are_no_contradiction(english: str, chinese: str) -> None:
    assert not contradict(english, chinese) and not contradict(chinese, english)


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_safe(one: str, other: str) -> None:
    assert say_the_same(one, other) == say_the_same(other, one)
    assert contradict(one, other) == contradict(other, one)
