"""Which questions are about the past."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.recall.past import is_about_the_past


@pytest.mark.parametrize(
    "query",
    [
        "what did we use before?", "which database was it before", "what was previously the port",
        "what did we used to deploy with", "what did we use to deploy with", "what did we use before uv?",
        "which port was the original one", "what was our previous database?", "where did we host it earlier?",
        "why did we stop using MySQL?", "之前用的是什么", "我们以前用什么数据库", "原来的端口", "以前数据库用的啥",
        "我们之前部署在哪", "之前的数据库是哪个", "为什么不用了 Redis", "为什么把 mysql 换成 postgres", "我们當時用什麼框架",
        "以前用 npm 还是 yarn", "原來的埠號", "過去一直用什麼",
    ],
)  # fmt: skip
def test_questions_about_the_past(query: str) -> None:
    assert is_about_the_past(query)


@pytest.mark.parametrize(
    "query",
    [
        "what must I run before a commit", "which port", "run lint before pushing", "before you push, run the tests",
        "this function is used to parse files", "I'm used to vim", "why did the test fail", "did we fix the build",
        "提交之前要做什么", "端口是多少", "发布之前的步骤", "为什么测试挂了", "部署前要跑什么", "目前用什么", "以后都用 pnpm",
        "第一个之前的那个按钮改成蓝色",
    ],
)  # fmt: skip
def test_questions_about_the_present(query: str) -> None:
    assert not is_about_the_past(query)


@given(st.text())
def test_any_text_is_safe(text: str) -> None:
    is_about_the_past(text)
