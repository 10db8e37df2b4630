"""Recall as a whole: any text is safe, scope and filters hold, results explain themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.domain.clock import seconds_of
from catmem.domain.errors import DataDamaged
from catmem.index import layout
from catmem.recall.recall import Item, Recaller
from catmem.settings.schema import Settings
from tests.index.world import World

NOW = "2026-06-01T10:00:00.000Z"

Make = Callable[..., Recaller]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def recaller(world: World) -> Make:
    def make(**values: Any) -> Recaller:
        world.catch_up()
        return Recaller(world.paths, Settings(**{"language": "en", **values}), lambda: seconds_of(NOW))

    return make


def texts(items: list[Item]) -> list[str]:
    return [item["text"] for item in items]


FACTS = (
    "我们的缓存服务监听端口 6390",
    "重跑sync-ledger后三十条坏账消失",
    "用户权限校验改成了短信验证",
    "部署顺序：先预发再正式",
    "会議は毎週木曜日の午後にする",
    "統合テストは全部通った",
    "주문 서버는 부산 리전에 있다",
    "The db backup rotates every 30 days",
    "Database file is /srv/app/main.db",
    "𠮷田さん uses invoice billing",
    "Run the post-merge hook before every release",
    "Never use agents for invoices",
    'Say "these words" exactly',
    "C++ and C# builders share a cache",
    "NOT every OR is an AND",
    "Column user:name holds the login, throughput above 5 GB/s",
)
QUERIES = (
    ("缓存", 0), ("端口", 0), ("坏账", 1), ("ledger", 1), ("用户", 2), ("用户权限", 2), ("部署", 3), ("预发", 3),
    ("木曜日", 4), ("テスト", 5), ("주문", 6), ("부산 리전", 6), ("db", 7), ("database", 8), ("𠮷田", 9),
    ("post-merge", 10), ("don't use agents", 11), ('"these words', 12), ("C++", 13), ("NOT OR AND", 14),
    ("user:name", 15), ("GB/s", 15),
)  # fmt: skip


@pytest.mark.parametrize(("query", "number"), QUERIES)
def test_words_of_any_script_and_operators_are_found(world: World, recaller: Make, query: str, number: int) -> None:
    for fact in FACTS:
        world.learn(fact)
    items = recaller().recall(query, project="shop", limit=3)["items"]
    assert FACTS[number] in texts(items)


@pytest.mark.parametrize(
    ("query", "text", "why"),
    [
        ("資料庫遷移", "资料库迁移之前先备份", "matches 資料庫遷移"),
        ("数据库迁移", "數據庫遷移之前先備份", "matches 数据库迁移"),
        ("數據庫迁移", "数据库遷移之前先备份", "matches 數據庫迁移"),
    ],
)
def test_traditional_and_simplified_find_each_other(
    world: World, recaller: Make, query: str, text: str, why: str
) -> None:
    world.learn(text)
    world.history.say("shop", "s2", ("user", f"{text}，昨天说的"))
    found = recaller().recall(query, project="shop")["items"]
    assert [(item["type"], item["why"]) for item in found] == [
        ("memory", why),
        ("passage", f"{why}; said by the user; older"),
    ]


def test_a_lone_word_is_met_by_other_words_only_where_none_has_it(world: World, recaller: Make) -> None:
    world.learn("The admin password rotates every 90 days")
    assert len(recaller().recall("密码", project="shop")["items"]) == 1
    world.learn("登录要输入密码和短信验证码")
    assert texts(recaller().recall("密码", project="shop")["items"]) == ["登录要输入密码和短信验证码"]
    assert len(recaller().recall("管理员的密码多久换一次", project="shop")["items"]) == 2


@pytest.mark.parametrize("query", ["*", "(", "   ", "", "NEAR(", "' OR 1=1 --", "^zzz", "\x00", "\ud83d", "🐈"])
def test_what_says_nothing_finds_nothing(world: World, recaller: Make, query: str) -> None:
    for fact in FACTS[:14]:
        world.learn(fact)
    assert recaller().recall(query, project="shop")["items"] == []


def test_letters_inside_a_word_are_not_the_word(world: World, recaller: Make) -> None:
    for fact in FACTS:
        world.learn(fact)
    assert texts(recaller().recall("db", project="shop")["items"])[0] == "The db backup rotates every 30 days"
    assert "重跑sync-ledger后三十条坏账消失" not in texts(recaller().recall("db", project="shop")["items"])


def test_words_that_sit_apart_are_found_and_a_right_word_more_never_drops_the_fact(
    world: World, recaller: Make
) -> None:
    fact = "The nightly export of invoices goes through the warehouse to the auditors' bucket"
    world.learn(fact)
    for other in FACTS:
        world.learn(other)
    words = ["export", "warehouse", "auditors", "bucket", "invoices", "nightly"]
    for count in range(1, len(words) + 1):
        assert texts(recaller().recall(" ".join(words[:count]), project="shop")["items"])[0] == fact


def test_an_old_fact_is_found_among_many_newer_ones(world: World, recaller: Make) -> None:
    world.learn("Error QX-77 means that the spool is full", at="2024-05-01T10:00:00.000Z", kind="note")
    for number in range(500):
        world.learn(f"The spool number {number} was full of errors", kind="note", at="2026-05-30T10:00:00.000Z")
    assert texts(recaller().recall("what does QX-77 mean", project="shop")["items"])[0].startswith("Error QX-77")


def test_only_this_project_and_the_profile_unless_asked(world: World, recaller: Make) -> None:
    world.learn("zebra of the shop")
    world.learn("zebra of the bank", project="bank")
    world.learn("zebra of the user", scope="global", project="bank", kind="preference")
    here = recaller().recall("zebra", project="shop")["items"]
    assert sorted(texts(here)) == ["zebra of the shop", "zebra of the user"]
    assert len(recaller().recall("zebra", project=None)["items"]) == 3


def test_kind_and_time_are_filters(world: World, recaller: Make) -> None:
    world.learn("zebra decided", kind="decision", at="2026-04-15T16:30:00.000Z")
    world.learn("zebra noted", kind="note", at="2026-04-20T10:00:00.000Z")
    world.history.say("shop", "s1", ("user", "zebra said"))
    assert texts(recaller().recall("zebra", project="shop", kind="note")["items"]) == ["zebra noted"]
    day = {"since": "2026-04-15T16:00:00.000Z", "until": "2026-04-16T15:59:59.999Z"}
    assert texts(recaller().recall("zebra", project="shop", **day)["items"]) == ["zebra decided"]


def test_the_fields_are_those_of_the_contract(world: World, recaller: Make) -> None:
    id = world.learn("We deploy with Argo CD", sessions=("s1", "s2"))
    world.history.say("shop", "s3", ("assistant", "argo is down"))
    found = recaller().recall("argo", project="shop")
    assert found["mode"] == "keyword"
    fields = {"type", "id", "text", "kind", "scope", "project", "score", "why", "session", "message_id", "at"}
    assert all(set(item) == fields for item in found["items"])
    memory, passage = found["items"]
    assert (memory["type"], memory["id"], memory["session"]) == ("memory", id, "s2")
    assert (passage["type"], passage["session"], passage["message_id"]) == ("passage", "s3", 1)
    assert 0 < passage["score"] <= memory["score"] <= 1


def test_why_is_said_in_the_users_language(world: World, recaller: Make) -> None:
    world.learn("部署走 Argo CD，先发预发环境", sessions=("s1", "s2", "s3"))
    why = recaller().recall("Argo 怎么部署", project="shop")["items"][0]["why"]
    assert "Argo" in why and "部署" in why and "3 sessions" in why
    why = recaller(language="zh").recall("Argo 怎么部署", project="shop")["items"][0]["why"]
    assert "Argo" in why and "部署" in why and "3 个会话" in why


def test_more_sessions_and_a_pin_count(world: World, recaller: Make) -> None:
    world.learn("zebra crossing alpha")
    world.learn("zebra crossing beta", sessions=("s1", "s2", "s3"))
    assert texts(recaller().recall("zebra crossing", project="shop")["items"])[0] == "zebra crossing beta"


def test_the_half_life_of_a_kind_decides_between_equals(world: World, recaller: Make) -> None:
    world.learn("zebra crossing alpha", kind="note", at="2025-01-01T10:00:00.000Z", sessions=("s1", "s2"))
    world.learn("zebra crossing beta", kind="note", at="2026-05-31T10:00:00.000Z")
    first = texts(recaller().recall("zebra crossing", project="shop")["items"])[0]
    slow = recaller(recency_half_life_days={"note": 100_000.0})
    assert first == "zebra crossing beta"
    assert texts(slow.recall("zebra crossing", project="shop")["items"])[0] == "zebra crossing alpha"


def test_the_threshold_decides_what_is_recalled(world: World, recaller: Make) -> None:
    world.learn("Invoices are rendered with Typst")
    query = "please rebuild the whole pricing engine with invoices in mind, tests and docs included"
    assert recaller(semantic_match_threshold=0.95).recall(query, project="shop")["items"] == []
    assert recaller(semantic_match_threshold=0.05).recall(query, project="shop")["items"]


def test_like_statements_are_folded_and_unlike_ones_are_not(world: World, recaller: Make) -> None:
    world.learn("We deploy the shop with Argo CD on Fridays")
    world.learn("we deploy the shop with Argo CD on Fridays, too")
    world.learn("We never deploy the shop with Argo CD on Fridays")
    world.learn("The staging server listens on port 8443")
    world.learn("The staging server listens on port 8444")
    found = texts(recaller().recall("deploy shop argo", project="shop")["items"])
    assert len(found) == 2 and "We never deploy the shop with Argo CD on Fridays" in found
    assert len(recaller().recall("staging server port", project="shop")["items"]) == 2


def test_the_passage_of_a_memory_is_folded_into_it(world: World, recaller: Make) -> None:
    world.history.say("shop", "s1", ("user", "ok then: we deploy with Argo CD from now on"))
    world.learn("we deploy with Argo CD from now on")
    assert [item["type"] for item in recaller().recall("argo", project="shop")["items"]] == ["memory"]


def test_a_superseded_statement_comes_only_when_asked_for(world: World, recaller: Make) -> None:
    runner = {"subject": "test runner", "predicate": "uses"}
    world.learn("The test runner is pytest", object="pytest", **runner)
    world.learn("The test runner is nose2", object="nose2", at="2026-04-01T10:00:00.000Z", sessions=("s2",), **runner)
    assert texts(recaller().recall("test runner", project="shop")["items"]) == ["The test runner is nose2"]
    asked = recaller().recall("test runner", project="shop", past=True)["items"]
    assert texts(asked) == ["The test runner is nose2", "The test runner is pytest"]
    assert "superseded" in asked[1]["why"]


def test_without_an_index_nothing_is_found(world: World) -> None:
    assert Recaller(world.paths, Settings()).recall("zebra", project="shop")["items"] == []


def test_a_damaged_index_is_mended_and_asked_again(world: World, recaller: Make) -> None:
    world.learn("zebra")
    world.catch_up()
    for file in Path(layout.part_folder(str(world.paths.search), layout.MEMORIES)).glob("*.term"):
        file.write_bytes(b"")
    with pytest.raises(DataDamaged):
        Recaller(world.paths, Settings()).recall("zebra", project="shop")
    mending = Recaller(world.paths, Settings(), mend=world.rebuild)
    assert texts(mending.recall("zebra", project="shop")["items"]) == ["zebra"]


WORDS = ["zebra", "okapi", "部署", "测试环境", "deploy", "端口", "getUserName", "v1.2.3", "never", "的"]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Recaller:
    world = World(tmp_path_factory.mktemp("full"))
    for number in range(120):
        one, other = WORDS[number % len(WORDS)], WORDS[number * 7 % len(WORDS)]
        world.learn(f"{one} {other} {number}", at=f"2026-0{number % 5 + 1}-01T10:00:00.000Z")
        world.history.say("shop", f"s{number % 9}", ("user", f"{other} and {one} again {number}"))
    world.catch_up()
    return Recaller(world.paths, Settings(semantic_match_threshold=0.0), lambda: seconds_of(NOW))


@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), limit=st.integers(0, 100))
def test_a_smaller_limit_gives_the_beginning_of_a_larger_one(full: Recaller, words: list[str], limit: int) -> None:
    query = " ".join(words)
    larger = full.recall(query, project="shop", limit=100)["items"]
    smaller = full.recall(query, project="shop", limit=limit)["items"]
    assert [item["id"] for item in smaller] == [item["id"] for item in larger[:limit]]


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(query=st.text(max_size=200))
def test_any_text_is_a_safe_query(full: Recaller, query: str) -> None:
    for item in full.recall(query, project="shop")["items"]:
        assert 0 <= item["score"] <= 1


@settings(max_examples=60, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))
def test_results_come_best_first(full: Recaller, words: list[str]) -> None:
    scores = [item["score"] for item in full.recall(" ".join(words), project="shop", limit=100)["items"]]
    assert scores == sorted(scores, reverse=True)
