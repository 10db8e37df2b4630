"""Search over what was said: every word of it is found, verbatim, by project, role and day; limits cut a fixed order."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.domain.message import Message, ToolCall
from catmem.domain.session import SessionRef
from catmem.recall.recall import Recaller
from catmem.recall.search import GAP, MOST, Searcher, lines_about
from catmem.sessions.history import History
from catmem.sessions.trim import archive_all
from catmem.settings.schema import Settings
from catmem.text.tokens import query_tokens
from tests.index.world import World
from tests.recall.zones import zone

LOG = "\n".join(f"line {number} of the log" for number in range(20))
LATER = "2026-05-01T10:00:00.000Z"


@pytest.fixture
def world(tmp_path: Path):
    made = World(tmp_path)
    said = made.history
    said.say("shop", "monday", ("user", "The staging database\nis on port 5432.\nIt was slow.\nBye."))
    said.say("shop", "monday", ("assistant", "好的：测试环境的数据库端口是 5432。"), ("tool", "shard 9999 is up"))
    said.say("茶壶", "tuesday", ("user", "The blog database has port 3306, the cache has none."), at=LATER)
    said.say("茶壶", "tuesday", ("user", "thanks"), ("user", "Thanks "), ("user", "修改youer服务端"), at=LATER)
    made.catch_up()
    yield made
    made.store.close()


@pytest.fixture
def search(world: World):
    searcher = Searcher(world.paths, Settings())
    return lambda words, project=None, **how: searcher.search(words, project=project, **how)["items"]


def places(found) -> list[str]:
    return [f"{passage['session']}#{passage['message_id']}" for passage in found]


def test_words_that_stand_apart_and_in_other_scripts(search):
    assert set(places(search("database port"))) == {"monday#1", "tuesday#1"}
    assert places(search("staging")) == places(search("STAGED")) == ["monday#1"]
    assert places(search("端口")) == ["monday#2"] == places(search("数据库 端口"))
    assert places(search("youer")) == places(search("服务端")) == ["tuesday#4"]
    assert search("giraffe") == search("") == search("!!! \0 AND (") == []


def test_more_right_words_never_drop_a_passage_and_all_of_them_come_first(search):
    found = search("staging port cache")
    assert set(places(found)) == {"monday#1", "tuesday#1"} and not any(passage["complete"] for passage in found)
    found = search("port cache")
    assert places(found)[0] == "tuesday#1" and found[0]["complete"] and not found[-1]["complete"]


def test_by_project_role_and_time(search):
    assert places(search("database", "shop")) == ["monday#1"]
    assert places(search("数据库 database", "shop", role="assistant")) == ["monday#2"]
    assert places(search("database", since=LATER)) == ["tuesday#1"]
    assert places(search("database", until="2026-04-01T00:00:00.000Z")) == ["monday#1"]


def test_what_tools_were_given_and_gave_back_comes_after_what_was_said(world, search):
    said = world.history
    said.say("shop", "friday", ("user", "run it with 8192 workers"), ("tool", "8192 workers started\nshard 8192 up"))
    call = ToolCall("t1", "Bash", json.dumps({"command": "start --workers\n# 启动队列", "description": "x"}))
    said.sessions[SessionRef("shop", "friday")].append(
        Message("assistant", "", LATER, "friday-3", 3, "friday", tool_calls=(call,))
    )
    world.catch_up()
    assert places(search("9999")) == ["monday#3"] == places(search("9999", role="tool"))
    assert search("9999")[0]["role"] == "tool" and search("9999", role="user") == []
    assert places(search("8192")) == ["friday#1", "friday#2"] == places(search("8192 up"))[::-1]
    assert places(search("workers", limit=2)) == ["friday#1", "friday#2"]
    assert places(search("启动队列")) == ["friday#3"]
    assert search("启动队列")[0]["text"] == "Bash\ncommand: start --workers\n# 启动队列\ndescription: x"
    recaller = Recaller(world.paths, Settings())
    assert [item["message_id"] for item in recaller.recall("8192 workers", project=None)["items"]] == [1]


def test_a_long_output_is_found_by_its_beginning(world, search):
    world.history.say("shop", "friday", ("tool", "needle\n" + "hay straw\n" * 10_000 + "thimble"))
    world.catch_up()
    assert places(search("needle")) == ["friday#1"] and search("thimble") == []


def test_what_is_archived_or_indexed_anew_is_found_alike(tmp_path):
    world = World(tmp_path / "home")
    history = History(world.paths, durability="none", redact=lambda text, source: text)
    ref, searcher = SessionRef("shop", "s1"), Searcher(world.paths, Settings(), clock=lambda: 1_790_000_000)
    lines = ["the database port is 5432", "数据库端口", "database logs", "port of the database?"]
    history.append(ref, [Message("user", line, LATER, f"u{number}") for number, line in enumerate(lines)])

    def answers():
        world.index.catch_up(world.store, history)
        return [searcher.search(words, project="shop") for words in ("database port", "端口", "5432 logs")]

    before = answers()
    assert [sorted(places(found["items"])) for found in before][1:] == [["s1#2"], ["s1#1", "s1#3"]]
    assert set(places(before[0]["items"])) == {"s1#1", "s1#3", "s1#4"} and not before[0]["items"][2]["complete"]
    archive_all(history.place(ref), LATER)
    assert answers() == before
    shutil.rmtree(world.paths.search)
    assert answers() == before, "from the archive alone"
    history.append(ref, [Message("user", "another port of a database", LATER, "u9")])
    assert len(answers()[0]["items"]) == 4


def test_a_day_in_the_words_bounds_the_search(world):
    # The day before is the 16th in Shanghai, which begins on the 15th elsewhere.
    for at, line in (("2026-04-15T16:30:00.000Z", "Decided: keep the old parser."), ("2026-04-16T16:00:00.000Z", "x")):
        world.history.say("shop", "april", ("user", line), at=at)
    world.history.say("shop", "march", ("user", "Decided: no parser."))
    world.catch_up()
    now = 1_776_384_000  # 2026-04-17T00:00:00Z, eight o'clock there
    searcher, recaller = (kind(world.paths, Settings(), lambda: now) for kind in (Searcher, Recaller))
    with zone("Asia/Shanghai"):
        for asked in (searcher.search, recaller.recall):
            for words in ("What did we decide yesterday?", "昨天 decided"):
                found = asked(words, project=None, read_days=True)
                assert [(i["session"], i["message_id"]) for i in found["items"]] == [("april", 1)]
                assert found["period"]["since"] == "2026-04-15T16:00:00.000Z"
            assert len(asked("What did we decide yesterday?", project=None)["items"]) == 2
            found = asked('decided "yesterday"', project=None, read_days=True)
            assert len(found["items"]) == 2 and "period" not in found


def test_what_was_said_again_is_shown_once_with_its_number(search):
    assert [(p["text"].strip().casefold(), p["same"]) for p in search("thanks")] == [("thanks", 1)]


def test_the_text_is_verbatim_and_the_lines_are_around_the_words(search):
    found = search("5432", "shop", role="user", context=0)
    assert found[0]["text"] == "The staging database\nis on port 5432.\nIt was slow.\nBye."
    assert found[0]["lines"] == [GAP, "is on port 5432.", GAP]
    assert search("5432", role="user", context=9)[0]["lines"] == found[0]["text"].split("\n")


def test_a_merged_project_is_searched_as_one(world, search):
    (world.paths.run).mkdir(exist_ok=True)
    world.paths.registry.write_text(json.dumps({"homes": {"茶壶": "shop"}}))
    assert (
        set(places(search("database", "shop"))) == {"monday#1", "tuesday#1"} == set(places(search("database", "茶壶")))
    )
    world.paths.registry.unlink()
    assert places(search("database", "shop")) == ["monday#1"]


def test_nothing_was_ever_indexed(tmp_path):
    world = World(tmp_path / "empty")
    assert Searcher(world.paths, Settings()).search("x", project=None)["items"] == []


@given(
    st.integers(1, MOST),
    st.sampled_from(["the database port", "thanks database 服务端", "端口 the", "shard 9999 database up"]),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_smaller_limit_gives_the_beginning_of_a_larger(search, limit, words):
    assert search(words, limit=limit) == search(words, limit=MOST)[:limit]


@given(st.text(max_size=400), st.text(min_size=1, max_size=8), st.integers(0, 5))
def test_lines_about_are_of_the_text_in_its_order(text, words, context):
    lines = text.strip("\n").split("\n")
    rest = iter(lines)
    for shown in lines_about(text, frozenset(query_tokens(words)), context):
        assert shown == GAP or any(shown.strip(GAP) in line for line in rest)


@pytest.mark.parametrize("filler", ["x " * 300, "无关" * 300])
def test_a_long_line_is_cut_around_the_word(filler):
    (line,) = lines_about(f"{filler} needle 针 {filler}", frozenset(["needle"]), 0)
    assert "needle" in line and len(line) < 300 and line.startswith(GAP) and line.endswith(GAP)
    assert lines_about(LOG, frozenset(["15"]), 1) == [GAP, *LOG.split("\n")[14:17], GAP]
