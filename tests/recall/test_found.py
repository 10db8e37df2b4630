"""What people said that such tools do not find: words of any script, apart, old, and under hundreds of newer rows."""

from __future__ import annotations

import pytest

from catmem.domain.clock import seconds_of
from catmem.recall.recall import Recaller
from catmem.recall.search import Searcher
from catmem.settings.schema import Settings
from tests.index.world import World

NOW = "2026-06-01T10:00:00.000Z"
LONG_AGO = "2025-04-20T10:00:00.000Z"  # more than 400 days
YESTERDAY = "2026-05-31T10:00:00.000Z"
DISTRACTORS = 500

# What is sought, a row that shares its words one by one, and questions.
SOUGHT = (
    (
        "The nightly export of invoices is written to the auditors' bucket",
        ("The export of {n} was slow", "Invoices of customer {n} were sent at night", "Bucket {n} has a lifecycle rule"),
        ("where is the nightly export of invoices written to?", "auditors bucket", "invoices export bucket nightly"),
    ),
    (
        "压测环境的网关地址是 10.3.7.20，走内网专线",
        ("网关第{n}次升级完成", "压测脚本改了第{n}版", "环境{n}的地址写在表格里"),
        ("压测环境的网关地址", "壓測環境的閘道走內網專線嗎", "压测 网关 内网"),
    ),
    (
        "部署 checkout-service 之前先跑 make smoke，失败就回滚",
        ("checkout-service 第{n}次部署成功", "make build 用了 {n} 秒", "smoke 测试加到 {n} 条"),
        ("部署checkout-service之前先跑什么", "checkout-service make smoke", "make smoke failed for checkout-service, roll back?"),
    ),
)  # fmt: skip
ASKED = [(place, question) for place, (_, _, questions) in enumerate(SOUGHT) for question in questions]


@pytest.fixture(scope="module")
def buried(tmp_path_factory: pytest.TempPathFactory) -> World:
    """Each sought row is the oldest, as a memory in one project and as what was said in another."""
    world = World(tmp_path_factory.mktemp("buried"))
    for number, (text, alike, _) in enumerate(SOUGHT):
        world.learn(text, kind="note", at=LONG_AGO)
        world.history.say("told", f"old-{number}", ("user", text), at=LONG_AGO)
        rows = [alike[n % len(alike)].format(n=n) for n in range(DISTRACTORS)]
        world.learn_notes(rows, at=YESTERDAY)
        world.history.say("told", f"new-{number}", *(("user", row) for row in rows), at=YESTERDAY)
    world.catch_up()
    return world


def recaller(world: World) -> Recaller:
    return Recaller(world.paths, Settings(language="en"), lambda: seconds_of(NOW))


@pytest.mark.parametrize("project", ["shop", "told"])
@pytest.mark.parametrize(("place", "question"), ASKED)
def test_the_right_row_is_first_under_500_newer_ones(buried: World, project: str, place: int, question: str) -> None:
    items = recaller(buried).recall(question, project=project)["items"]
    assert items[0]["text"] == SOUGHT[place][0]
    assert items[0]["type"] == ("memory" if project == "shop" else "passage")


@pytest.mark.parametrize(("place", "question"), ASKED)
def test_search_has_it_first_too(buried: World, place: int, question: str) -> None:
    items = Searcher(buried.paths, Settings(), lambda: seconds_of(NOW)).search(question, project="told")["items"]
    assert items[0]["text"] == SOUGHT[place][0]


def test_a_date_filters_before_the_best_are_taken(buried: World) -> None:
    found = recaller(buried).recall("网关", project="shop", until="2025-12-31T00:00:00.000Z")["items"]
    assert [item["text"] for item in found] == [SOUGHT[1][0]]


ROWS = (
    "去桂林出差的报销走行政部",
    "广西机房的交换机每季度巡检",
    "修改youer服务端的超时为三秒",
    "用户身份核验改走刷脸",
    "消息队列积压超过一万就报警",
    "前端用docker部署，后端用systemd",
    "会議は毎週水曜日の夕方に変更した",
    "在庫検索のテストは通っていない",
    "결제 서버는 부산 리전으로 옮겼다",
    "배포는 금요일에 하지 않는다",
    "The replica of the ledger lags by three minutes at month end",
    "Le café des développeurs ferme à midi",
    "Мой сервер стоит в Берлине",
    "They can’t reach Łódź over IPv6",
)


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> World:
    world = World(tmp_path_factory.mktemp("rows"))
    for number, row in enumerate(ROWS):
        world.learn(row)
        world.history.say("told", f"s{number}", ("user", row))
    world.catch_up()
    return world


@pytest.mark.parametrize("project", ["shop", "told"])
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("广西 OR 桂林", {0, 1}), ("廣西 OR 桂林", {0, 1}), ("youer", {2}), ("服务端", {2}), ("岗", set()), ("刷", {3}), ("脸", {3}), ("積", {4}), ("巡", {1}), ("修改youer服务端", {2}),
        ("用户身份", {3}), ("身份", {3}), ("队列", {4}), ("佇列 隊列", {4}), ("docker 部署", {5}), ("docker部署", {5}),
        ("水曜日", {6}), ("会議", {6}), ("テスト", {7}), ("在庫検索", {7}), ("결제", {8}), ("부산 리전", {8}), ("금요일", {9}),
        ("café développeurs", {11}), ("cafe developpeurs", {11}), ("мой сервер", {12}), ("can't reach Łódź", {13}),
        ("ledger replica lags month", {10}), ("month lags replica ledger", {10}),
    ],
)  # fmt: skip
def test_a_word_of_any_script_finds_its_rows_first(rows: World, project: str, query: str, wanted: set[int]) -> None:
    items = recaller(rows).recall(query, project=project)["items"]
    assert {ROWS.index(item["text"]) for item in items[: len(wanted)]} == wanted
