"""Words for the same thing in both languages: a query meets the others, and chatter does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from catmem.recall.recall import Recaller
from catmem.settings.schema import Settings
from tests.index.world import World

FACTS = (
    "Tests are run with pytest -q, never with unittest",
    "每周二部署到预发环境",
    "Commit messages are imperative, at most 60 characters",
    "包管理器用 pnpm，不要用 npm",
    "Indentation is four spaces",
    "数据库端口是 5433",
    "Amounts are kept as integers",
    "权限按角色划分",
    "Invoices are sent by the worker",
    "错误一律写进日志，不打印到屏幕",
)
ASKED = (
    ("单测怎么跑", 0), ("how is it deployed to the staging environment", 1), ("提交信息怎么写", 2),
    ("which package manager do we use", 3), ("缩进几格", 4), ("which port does the database listen on", 5),
    ("金额用什么类型", 6), ("單測怎麼跑", 0), ("提交資訊要怎麼寫，提交說明", 2), ("who has which permission", 7),
    ("谁来发发票", 8), ("where do logs go", 9),
)  # fmt: skip


@pytest.fixture
def recaller(tmp_path: Path) -> Recaller:
    world = World(tmp_path)
    for fact in FACTS:
        world.learn(fact)
    world.catch_up()
    return Recaller(world.paths, Settings(language="en"))


@pytest.mark.parametrize(("query", "number"), ASKED)
def test_a_question_in_one_language_finds_what_was_said_in_the_other(
    recaller: Recaller, query: str, number: int
) -> None:
    items = recaller.recall(query, project="shop", limit=3)["items"]
    assert FACTS[number] in [item["text"] for item in items]


def test_the_word_itself_is_better_than_another_for_it(tmp_path: Path) -> None:
    world = World(tmp_path)
    for fact in ("测试用例放在 tests 目录", "The checks of the parser live in spec/parser"):
        world.learn(fact)
    world.catch_up()
    items = Recaller(world.paths, Settings(semantic_match_threshold=0.1)).recall("测试 在哪", project="shop")["items"]
    assert items[0]["text"] == "测试用例放在 tests 目录"


def test_what_was_met_is_told_in_the_words_of_the_memory(recaller: Recaller) -> None:
    assert "端口" in recaller.recall("the port of our database", project="shop")["items"][0]["why"]


@pytest.mark.parametrize(
    "prompt", ["thanks, that is all", "好的，继续", "tell me a joke", "今天天气怎么样", "what is the capital of Peru?"]
)
def test_chatter_finds_nothing(recaller: Recaller, prompt: str) -> None:
    assert recaller.recall(prompt, project="shop", searched=False)["items"] == []
