"""Names of code are found whole, by a part and in other spellings, in English and in Chinese without blanks; so are
words of the trade that are small talk elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from catmem.recall.recall import Recaller
from catmem.settings.schema import Settings
from tests.index.world import World

FACTS = (
    "getUserName() reads the login from the token, never from the cookie",
    "调用getOrderTotal时要传入税率，否则返回零",
    "The retry_backoff_ms setting is 250 in staging",
    "环境变量里的max_pool_size不能超过40",
    "Shared types live in src/core/wire_format.py",
    "路由表写在src/router/table.ts里面，别的地方不要写",
    "ERR_CONN_REFUSED at start means that the tunnel is down",
    "日志里出现ERR_DISK_QUOTA就清理缓存目录",
    "The parser is pinned to v1.2.3 because of a regression",
    "镜像固定在v20.11.4，升级要先问运维",
    "kebab-case-routes are generated from the OpenAPI file",
    "XMLHttpRequest is wrapped by fetchJson",
    "Issue #4711 tracks the slow import",
    "commit 3f2a91c broke the build of the docs",
    "std::vector is replaced by SmallVector in hot loops",
    "Send mail to ops@example.com when a disk fills up",
)
ASKED = (
    # whole
    ("getUserName", 0), ("getOrderTotal", 1), ("retry_backoff_ms", 2), ("max_pool_size", 3), ("src/core/wire_format.py", 4),
    ("src/router/table.ts", 5), ("ERR_CONN_REFUSED", 6), ("ERR_DISK_QUOTA", 7), ("v1.2.3", 8), ("v20.11.4", 9),
    ("kebab-case-routes", 10), ("XMLHttpRequest", 11), ("#4711", 12), ("3f2a91c", 13), ("std::vector", 14),
    ("ops@example.com", 15),
    # by a part
    ("order total", 1), ("backoff", 2), ("pool size", 3), ("wire_format.py", 4), ("table.ts", 5), ("conn refused", 6),
    ("disk quota", 7), ("1.2", 8), ("20.11", 9), ("routes", 10), ("http request", 11), ("4711", 12), ("vector", 14),
    ("example.com", 15),
    # in another spelling
    ("get_user_name", 0), ("get-user-name", 0), ("GetUserName", 0), ("user name", 0), ("retryBackoffMs", 2),
    ("maxPoolSize", 3), ("MAX_POOL_SIZE", 3), ("errConnRefused", 6), ("err-disk-quota", 7), ("1.2.3", 8), ("20.11.4", 9),
    ("kebabCaseRoutes", 10), ("ｇｅｔＵｓｅｒＮａｍｅ", 0),
    # in a sentence, with and without blanks
    ("what does getUserName read the login from?", 0), ("getUserName从哪里读登录名", 0), ("为什么max_pool_size是40", 3),
    ("启动时报ERR_CONN_REFUSED怎么办", 6), ("為什麼ERR_DISK_QUOTA又出現了", 7), ("升级v20.11.4之前要做什么", 9),
    ("看一下src/core/wire_format.py里的类型", 4), ("调用get_order_total要传什么", 1),
)  # fmt: skip


@pytest.fixture(scope="module")
def recaller(tmp_path_factory: pytest.TempPathFactory) -> Recaller:
    return recaller_of(tmp_path_factory.mktemp("names"), FACTS)


def recaller_of(folder: Path, facts: tuple[str, ...]) -> Recaller:
    world = World(folder)
    for fact in facts:
        world.learn(fact)
    world.catch_up()
    return Recaller(world.paths, Settings(language="en"))


def first(recaller: Recaller, query: str, searched: bool = True) -> str:
    items = recaller.recall(query, project="shop", limit=1, searched=searched)["items"]
    return items[0]["text"] if items else ""


@pytest.mark.parametrize(("query", "number"), ASKED)
def test_a_name_of_code_is_found_first(recaller: Recaller, query: str, number: int) -> None:
    assert first(recaller, query) == FACTS[number]


TRADE = (
    "Go is pinned to version 1.22",
    "Node is at version 20, and every new version of it is tried in staging first",
    "A user id is a string with leading zeros",
    "The user table has a name, a mail and a creation time of each user",
    "make targets are listed in the README",
    "Build targets of the mobile app are debug and release",
    "HTTP GET never changes anything on the server",
    "An HTTP request that changes something carries a CSRF token; an HTTP error is shown",
    "VS Code settings are committed",
    "Code style is that of ruff; code without a test is not merged",
    "/etc/hosts has an entry for the sandbox",
    "Next.js runs behind nginx",
    "订单 id 由雪花算法生成",
    "订单状态由支付回调更新，订单超时自动关闭",
)


@pytest.fixture(scope="module")
def trade(tmp_path_factory: pytest.TempPathFactory) -> Recaller:
    return recaller_of(tmp_path_factory.mktemp("trade"), TRADE)


@pytest.mark.parametrize("searched", [True, False])
@pytest.mark.parametrize(
    ("query", "number"),
    [
        ("user id", 2), ("what type has a user id", 2), ("go version", 0), ("which go version do we use", 0),
        ("make target", 4), ("http get", 6), ("vs code", 8), ("etc hosts", 10), ("next js", 11), ("订单id怎么生成", 12),
        ("訂單 id", 12), ("ids of users", 2),
    ],
)  # fmt: skip
def test_words_of_the_trade_count_beside_a_telling_word(
    trade: Recaller, query: str, number: int, searched: bool
) -> None:
    assert first(trade, query, searched) == TRADE[number]


@pytest.mark.parametrize(
    "prompt",
    ["ok, go on", "let's go", "let me see", "try again", "I'd say yes", "make it so", "get on with it", "next", "any?",
     "I'd rather not", "put it there"],
)  # fmt: skip
def test_and_are_small_talk_elsewhere(trade: Recaller, prompt: str) -> None:
    assert first(trade, prompt, searched=False) == ""


def test_a_word_typed_alone_is_searched_for_whatever_it_is(trade: Recaller) -> None:
    assert first(trade, "go") == TRADE[0]
    assert first(trade, "id") in (TRADE[2], TRADE[12])


def test_what_is_known_of_what_weighs_more_than_what_is_said_beside(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.learn("the sandbox is reset by the Argo pipeline every night", object="every night", predicate="is reset")
    world.learn("the sandbox is rolled out by Argo as of now", object="Argo", predicate="is rolled out by")
    world.learn("the sandbox is looked after by the Argo people too", object="the people", predicate="is looked after")
    world.catch_up()
    assert first(Recaller(world.paths, Settings()), "argo sandbox") == "the sandbox is rolled out by Argo as of now"
