"""`mem project`: what a merge shows to every command, and that each change is taken back."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from tests.cli.shell import Shell
from tests.clients.talk import Talk

ENTRY = {"key", "name", "sessions", "messages", "memories", "updated_at", "folders"}


@pytest.fixture(params=["en", "zh"])
def shop(request, shell_in) -> Shell:
    shell = shell_in(request.param)
    shell.talk("monday", "Remember: the staging database is on port 5432.", project="shop")
    shell.talk("tuesday", "记住：我们用 redis 做缓存。", project="茶壶")
    shell.ok("import", "monday.jsonl", "tuesday.jsonl")
    shell.ok("work")
    return shell


def sessions(shell: Shell, project: str) -> set[str]:
    return {line["key"] for line in shell.json("sessions", "--project", project)["sessions"]}


def recalled(shell: Shell, words: str, project: str) -> set[str]:
    return {item["session"] for item in shell.json("recall", words, "--project", project)["items"]}


def test_a_merge_is_seen_by_every_command_and_undone(shop):
    assert sessions(shop, "shop") == {"monday"} and recalled(shop, "redis 缓存", "shop") == set()
    made = shop.json("project", "merge", "茶壶", "shop")
    assert (made["merged"], made["into"], made["sessions"]) == ("茶壶", "shop", 1)
    for project in ("shop", "茶壶"):
        assert sessions(shop, project) == {"monday", "tuesday"}
        assert recalled(shop, "redis 缓存", project) == {"tuesday"}
        assert {i["session"] for i in shop.json("search", "redis", "--project", project)["items"]} == {"tuesday"}
        brief = shop.json("brief", "--project", project)["text"]
        assert "5432" in brief and "redis" in brief
    assert shop.json("sessions", "show", "tuesday", "--project", "shop")["session"]["metadata"]["project"] == "茶壶"
    (home,) = shop.json("project", "list")["projects"]
    assert set(home) == ENTRY | {"merged"} and [set(part) for part in home["merged"]] == [ENTRY]
    assert shop.json("project", "undo") == {"key": "茶壶", "into": "", "name": ""}
    assert sessions(shop, "shop") == {"monday"} and recalled(shop, "redis 缓存", "shop") == set()
    assert "redis" not in shop.json("brief", "--project", "shop")["text"]


def test_every_command_takes_the_name_that_a_project_was_given(shop):
    shop.ok("project", "rename", "shop", "网店 One")
    assert sessions(shop, "网店 one") == {"monday"}
    assert [item["project"] for item in shop.json("recall", "port", "--project", "网店 one")["items"]][:1] == ["shop"]
    assert shop.json("search", "port", "--project", "网店 One")["items"]
    assert shop.json("replay", "monday", "--project", "网店 One")["messages"]
    assert shop.json("brief", "--project", "网店 One") == shop.json("brief", "--project", "shop")
    whole = shop.json("export", "--project", "网店 One")
    assert whole["memories"] == shop.json("export", "--project", "shop")["memories"] != []
    shop.ok("recall", "--save", "the till is green", "--project", "网店 One")
    assert shop.json("recall", "till", "--project", "shop")["items"][0]["project"] == "shop"


def test_a_key_that_has_something_wins_over_a_name_and_a_name_of_two_is_asked_about(shop):
    shop.ok("project", "rename", "shop", "茶壶")
    assert sessions(shop, "茶壶") == {"tuesday"}
    shop.ok("project", "rename", "shop", "one")
    shop.ok("project", "rename", "茶壶", "one")
    told = shop.mem("sessions", "--project", "one")
    assert told.code == 2 and "shop" in told.err and "茶壶" in told.err


def test_split_and_rename(shop):
    shop.ok("project", "merge", "茶壶", "shop")
    assert shop.json("project", "split", "茶壶") == {"split": "茶壶", "from": "shop"}
    assert shop.json("project", "rename", "shop", "网店 one") == {"key": "shop", "name": "网店 one"}
    assert "网店 one" in shop.ok("project", "list")
    assert shop.json("project", "merge", "茶壶", "网店 ONE")["into"] == "shop", "named by its name"
    shop.ok("project", "undo")
    assert shop.json("project", "rename", "shop", "--reset")["name"] == ""


def test_mistakes_are_said_and_change_nothing(shop):
    for arguments, code in (
        (("merge", "nowhere", "shop"), 4),
        (("merge", "shop", "nowhere"), 4),
        (("merge", "shop", "shop"), 2),
        (("split", "shop"), 2),
        (("rename", "shop"), 2),
        (("rename", "shop", "x", "--reset"), 2),
        (("undo",), 4),
    ):
        done = shop.mem("project", *arguments)
        assert done.code == code and done.err.startswith("mem: ") and done.err.count("\n") == 1, (arguments, done)
    assert len(shop.json("project", "list")["projects"]) == 2


def test_an_empty_directory(shell: Shell) -> None:
    assert shell.json("project", "list") == {"projects": []}


def test_what_is_said_later_goes_to_the_home_and_the_log_tells_of_it(shop):
    here = shop.json("recall", "--save", "we ship on fridays")["id"]
    key = next(p["key"] for p in shop.json("project", "list")["projects"] if p["memories"] and p["key"][:5] == "shop-")
    shop.ok("project", "merge", key, "shop")
    saved = shop.json("recall", "--save", "tests run on mondays")["id"]
    assert {here, saved} <= {
        i["id"] for i in shop.json("recall", "ship fridays tests mondays", "--project", "shop")["items"]
    }
    assert "project" in [change["op"] for change in shop.json("log")["changes"]]
    assert shop.ok("log")


def prompt(shell: Shell, folder: str, text: str, session: str) -> str:
    """What the hook of a prompt answers, typed in a folder."""
    payload = {"session_id": session, "cwd": folder, "hook_event_name": "UserPromptSubmit", "prompt": text}
    return shell.ok("hook", "claude-code", "UserPromptSubmit", typed=json.dumps(payload))


def test_a_hook_follows_a_merge_and_a_move(shop):
    """Words typed in a folder that was merged go to its home, which answers with the memories of both."""
    folder = str(shop.folder)
    prompt(shop, folder, "hello there", "first")
    key = next(line["metadata"]["project"] for line in shop.json("sessions")["sessions"] if "first" in line["key"])
    assert "5432" not in prompt(shop, folder, "which port has the staging database?", "first")
    shop.ok("project", "merge", key, "shop")
    assert "5432" in prompt(shop, folder, "which port has the staging database?", "first")
    prompt(shop, folder, "hello again", "second")
    assert {"claude-code:first", "claude-code:second", "monday"} == sessions(shop, key) == sessions(shop, "shop")
    homes = {line["key"]: line["metadata"]["project"] for line in shop.json("sessions")["sessions"]}
    assert homes["claude-code:first"] == key, "a session stays where it began"
    assert homes["claude-code:second"] == "shop"
    shop.ok("project", "split", key)
    assert sessions(shop, key) == {"claude-code:first"}


@pytest.mark.skipif(shutil.which("git") is None, reason="git makes the input")
def test_a_hook_knows_a_repository_that_was_moved(shop):
    app = shop.root / "one" / "app"
    app.mkdir(parents=True)
    for arguments in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.test"]
        subprocess.run(["git", *identity, *arguments], cwd=app, check=True, capture_output=True)
    prompt(shop, str(app), "记住：仓库用 redis 做队列。 Remember: the queue runs on redis.", "first")
    shop.ok("work")
    moved = app.rename(shop.root / "搬家")
    assert "redis" in prompt(shop, str(moved), "what does the queue run on? 队列用什么？", "second")
    lines = {line["key"]: line["metadata"]["project"] for line in shop.json("sessions")["sessions"]}
    assert lines["claude-code:first"] == lines["claude-code:second"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_folder_of_windows_and_its_mount_are_two_and_it_says_why(shell_in, language):
    shell = shell_in(language)
    folders = (r"D:\docu2", "d:/Docu2/", "/mnt/d/docu2", "/mnt/e/docu2")
    for number, folder in enumerate(folders):
        session = f"0f0e0d0c-0000-4000-8000-00000000000{number}"
        Talk(session, folder).user(f"u{number}", "写文档").write(shell.folder, f"{session}.jsonl")
    done = shell.mem("import", ".")
    assert done.err.count("mem project merge docu2-") == 1 and r"D:\docu2" in done.err and "/mnt/d/docu2" in done.err
    assert len(shell.json("project", "list")["projects"]) == 3
    command = done.err[done.err.index("project merge") :].split("`")[0].split()
    shell.ok(*command)
    assert len(shell.json("project", "list")["projects"]) == 2
    assert "project merge" not in shell.mem("project", "list").err
