"""`mem search` and `mem replay`: finding what was said, and reading it as it was."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.cli.shell import Shell

PASSAGE = {
    "project",
    "session",
    "message_id",
    "role",
    "at",
    "score",
    "complete",
    "same",
    "same_turn",
    "text",
    "lines",
    "turn",
}


@pytest.fixture(params=["en", "zh"])
def talked(request, shell_in) -> Shell:
    shell = shell_in(request.param)
    shell.talk(
        "monday",
        "Where is the staging database?\nI forgot.",
        ("assistant", "On port 5432.\n在 5432 端口。"),
        ("tool", "\n".join(f"row {n}" for n in range(50))),
        "谢谢",
    )
    shell.talk("tuesday", "The blog database is on port 3306.", project="blog")
    shell.ok("import", "monday.jsonl", "tuesday.jsonl")
    return shell


def test_search_needs_no_work_before_it_and_stays_in_the_project(talked):
    found = talked.json("search", "database", "--project", "shop")
    assert set(found) == {"mode", "items"} and [set(item) for item in found["items"]] == [PASSAGE]
    assert len(talked.json("search", "database", "--all-projects")["items"]) == 2
    assert talked.json("search", "database")["items"] == [], "this folder has none"
    assert "--all-projects" in talked.mem("search", "database").err
    both = talked.json("search", "port", "端口", "--all-projects", "--role", "assistant", "--since", "2026-06-30")
    assert [item["session"] for item in both["items"]] == ["monday"]
    assert talked.json("search", "port", "--all-projects", "--until", "2026-06-28")["items"] == []
    assert "    I forgot." in talked.ok("search", "staging", "--project", "shop")
    assert "I forgot" not in talked.ok("search", "staging", "--project", "shop", "--context", "0")
    assert talked.mem("search", "x", "--since", "someday").code == 2 == talked.mem("search").code


def test_search_finds_what_tools_gave_and_says_how_it_read_a_day(talked):
    (found,) = talked.json("search", "row", "33", "--project", "shop")["items"]
    assert found["role"] == "tool" and found["complete"]
    assert talked.json("search", "row", "33", "--project", "shop", "--role", "user")["items"] == []
    for words in ("database yesterday", "端口 昨天"):
        found = talked.json("search", words, "--project", "shop")
        assert found["period"]["since"].startswith("2026-06-30") and found["items"][0]["session"] == "monday"
    shown = talked.mem("search", "database last week", "--project", "shop")
    assert "2026-06-22" in shown.err and "2026-06-28" in shown.err and "monday" in shown.out
    assert "period" not in talked.json("search", "database yesterday", "--since", "2026-06-01", "--project", "shop")
    assert "2026-06-30" in talked.mem("recall", "database yesterday", "--project", "shop").err


def test_of_a_turn_search_shows_one_result_and_how_to_read_on(talked):
    talked.talk(
        "it's up", "where does zebra run?", ("assistant", "zebra runs on staging"), ("tool", "zebra: up"),
        "那 zebra 的端口呢", ("assistant", "zebra 在 5439 端口"), session="it's up",
    )  # fmt: skip
    talked.ok("import", "it's up.jsonl")
    first, second = sorted(
        talked.json("search", "zebra", "--project", "shop")["items"], key=lambda item: item["turn"]["first"]
    )
    assert {first["message_id"], *first["same_turn"]} == {1, 2, 3} and first["turn"]["last"] == 3
    assert {second["message_id"], *second["same_turn"]} == {4, 5}
    shown = talked.mem("search", "zebra", "--project", "shop")
    line = next(line for line in shown.out.splitlines() if "2 in this turn" in line or "另有 2 处" in line)
    _, _, command = line.replace("：", ": ").rpartition(": mem ")
    assert [m["id"] for m in talked.json(*shlex.split(command))["messages"]] == [1, 2, 3, 4, 5]
    assert len(talked.json("search", "zebra", "--project", "shop", "--limit", "1")["items"]) == 1


def test_replay_is_the_talk_as_it_was(talked):
    out = talked.ok("replay", "monday")
    order = [out.index(part) for part in ("staging database", "在 5432 端口。", "row 0", "谢谢")]
    assert order == sorted(order) and "09:01" in out
    assert "row 3" not in out and "row 49" in talked.ok("replay", "monday", "--full")
    whole = talked.json("replay", "monday")
    assert set(whole) == {"session", "messages"} and whole == talked.json("sessions", "show", "monday")


@pytest.mark.parametrize(
    ("bounds", "ids"),
    [
        (("--from", "2"), [2, 3, 4]),
        (("--to", "#2"), [1, 2]),
        (("--from", "2", "--to", "2"), [2]),
        (("--from", "9"), []),
        (("--from", "2026-06-30T09:02"), [3, 4]),
        (("--to", "2026-06-30T09:01"), [1, 2]),
        (("--from", "2026-06-30", "--to", "2026-06-30"), [1, 2, 3, 4]),
        (("--to", "2026-06-28"), []),
    ],
)
def test_bounds(talked, bounds, ids):
    assert [message["id"] for message in talked.json("replay", "monday", *bounds)["messages"]] == ids


def test_bounds_that_are_none(talked):
    assert talked.mem("replay", "monday", "--from", "yesterday").code == 2
    assert talked.mem("replay", "nobody").code == 4


def test_tool_calls_are_shortened_and_kept_whole_in_json(shell: Shell) -> None:
    lines = [
        {"type": "user", "uuid": "u1", "sessionId": "s", "cwd": "/x", "timestamp": "2026-06-30T09:00:00Z",
         "message": {"role": "user", "content": "list it"}},
        {"type": "assistant", "uuid": "a1", "parentUuid": "u1", "sessionId": "s", "timestamp": "2026-06-30T09:01:00Z",
         "message": {"role": "assistant", "id": "m1", "content": [
             {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls " + "很长 " * 200}}]}},
    ]  # fmt: skip
    shell.write("s.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    shell.ok("import", "s.jsonl")
    (key,) = [line["key"] for line in shell.json("sessions")["sessions"]]
    shown = next(line for line in shell.ok("replay", key).splitlines() if line.startswith("→ Bash("))
    assert len(shown) < 130 and shown.endswith("…)")
    call = shell.json("replay", key)["messages"][-1]["toolCalls"][0]
    assert json.loads(call["arguments"])["command"].count("很长") == 200
