"""An export taken into an empty directory, and exported again, is the same; taken in twice, it changes nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.shell import Shell

WAYS = pytest.mark.parametrize("messages", [(), ("--messages",)], ids=["memories", "messages"])


@pytest.fixture
def full(shell: Shell) -> Shell:
    """With memories that are superseded in both ways, pinned, promoted from two projects, and forgotten."""
    shell.talk("monday", "Remember: I always use npm.", "The staging database is on port 5432.", day="2026-06-01")
    shell.talk("tuesday", "Remember: from now on I always use pnpm instead of npm.", day="2026-06-02")
    shell.talk("wednesday", "From now on the staging database is on port 5433.", day="2026-06-03")
    shell.talk("one", "以后都用中文写提交说明。", project="api", day="2026-06-04")
    shell.talk("two", "以后都用中文写提交说明。", project="web", day="2026-06-05")
    shell.talk("gone", "Remember: always deploy with marmalade.", ("assistant", "Noted. 🦊 好的"), day="2026-06-06")
    shell.ok("import", *sorted(path.name for path in shell.folder.glob("*.jsonl")))
    shell.ok("work")
    shell.ok("recall", "--save", "Friday is release day", "--project", "shop")
    shell.ok("recall", "--save", "我先看文档", "--global")
    shell.ok("forget", "marmalade", "--yes")
    return shell


def exported(shell: Shell, directory: Path, *options: str) -> str:
    text = shell.ok("--dir", directory, "export", *options)
    return re.sub(r'"exported_at": "[^"]*"', '"exported_at": ""', text)


def test_the_example_has_every_kind_of_state(full: Shell) -> None:
    memories = full.json("export")["memories"]
    assert {entry["status"] for entry in memories} == {"live", "superseded", "forgotten"}
    assert any(entry["pinned"] for entry in memories)
    chinese = [entry for entry in memories if "中文" in entry["text"] and entry["status"] == "live"]
    assert [(entry["scope"], entry["confirmations"]) for entry in chinese] == [("global", 2)]
    assert "marmalade" not in str(memories)


@WAYS
def test_there_and_back(full: Shell, messages: tuple[str, ...]) -> None:
    before = exported(full, full.data, *messages)
    full.ok("export", "all.json", *messages)
    second, third = full.root / "second", full.root / "third"
    full.ok("--dir", second, "import", "all.json")
    assert exported(full, second, *messages) == before
    full.ok("--dir", second, "export", "again.json", *messages)
    full.ok("--dir", third, "import", "again.json")
    assert exported(full, third, *messages) == before


@WAYS
def test_merged_and_named_projects_come_along(full: Shell, messages: tuple[str, ...]) -> None:
    full.ok("project", "merge", "web", "api")
    full.ok("project", "rename", "api", "茶壶店")
    before = exported(full, full.data, *messages)
    assert [entry["key"] for entry in full.json("export", "--project", "web")["projects"]] == ["api", "web"]
    full.ok("export", "all.json", *messages)
    second = full.root / "second"
    for _ in range(2):
        full.ok("--dir", second, "import", "all.json")
        assert exported(full, second, *messages) == before
    for directory in (full.data, second):
        told = full.json("--dir", directory, "recall", "提交说明", "--project", "api")["items"]
        assert told and told == full.json("--dir", directory, "recall", "提交说明", "--project", "web")["items"]


@pytest.mark.parametrize(
    "messages",
    [
        (),
        pytest.param(
            ("--messages",),
        ),
    ],
    ids=["memories", "messages"],
)
def test_background_work_there_changes_nothing(full: Shell, messages: tuple[str, ...]) -> None:
    before = exported(full, full.data, *messages)
    full.ok("export", "all.json", *messages)
    second = full.root / "second"
    full.ok("--dir", second, "import", "all.json")
    full.ok("--dir", second, "work")
    assert exported(full, second, *messages) == before


@WAYS
def test_taken_in_twice_it_changes_nothing(full: Shell, messages: tuple[str, ...]) -> None:
    full.ok("export", "all.json", *messages)
    second = full.root / "second"
    for directory in (full.data, second, second):
        full.ok("--dir", directory, "import", "all.json")
        kept = essentials(directory)
        again = full.json("--dir", directory, "import", "all.json")
        assert again["messages_new"] == 0
        assert essentials(directory) == kept


def test_nothing_is_different_where_it_came_from(full: Shell) -> None:
    before = exported(full, full.data, "--messages")
    full.ok("export", "all.json", "--messages")
    full.ok("import", "all.json")
    assert exported(full, full.data, "--messages") == before


def test_nothing_is_written_where_it_came_from(full: Shell) -> None:
    full.ok("export", "all.json", "--messages")
    kept = essentials(full.data)
    full.ok("import", "all.json")
    assert essentials(full.data) == kept


def test_a_project_alone(full: Shell) -> None:
    export = full.json("export", "--project", "shop")
    assert {entry["project"] for entry in export["memories"] if entry["scope"] == "project"} == {"shop"}
    assert any(entry["scope"] == "global" for entry in export["memories"])
    assert {line["metadata"]["project"] for line in export["sessions"]} == {"shop"}


def essentials(directory: Path) -> dict[str, bytes]:
    """What is not derived: the ledger and the sessions."""
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for place in ("ledger", "messages")
        for path in (directory / place).rglob("*")
        if path.is_file()
    }
