"""Each setting, changed as people change it, changes what the commands do. Bounds and files: tests/settings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catmem.settings.schema import SETTINGS
from tests.cli.shell import Shell

# Shown elsewhere, where it takes more than a command to see it.
ELSEWHERE = {
    "models": "tests/cli/test_start.py",
    "embedder": "tests/cli/test_semantic.py",
    "daily_token_budget": "tests/llm/test_budget.py",
    "durability": "tests/sessions/test_file.py",
    "max_messages": "tests/settings/test_config.py",
    "archive_raw_after_days": "tests/settings/test_config.py",
    "compact": "tests/settings/test_config.py",
    "archive_batch_size": "tests/proxy/test_recorder.py",
    "dream": "tests/dream/model/test_dreamer.py",
    "project_memory_file": "tests/cli/test_pages.py",
}


def test_every_setting_is_shown_here() -> None:
    here = {name.removeprefix("test_") for name in globals() if name.startswith("test_")}
    assert {setting.name for setting in SETTINGS} <= here | set(ELSEWHERE)
    for name, place in ELSEWHERE.items():
        assert name in (Path(__file__).parents[2] / place).read_text("utf-8"), place


def put(shell: Shell, name: str, value: Any) -> None:
    shell.ok("config", "set", name, json.dumps(value))


@pytest.fixture
def told(shell: Shell) -> Shell:
    """That keeps ten notes and two texts of the profile."""
    for number in range(10):
        shell.ok("recall", "--save", f"note {number}: the parser of module {number} reads tokens", "--project", "shop")
    shell.ok("recall", "--save", "I read the docs first", "--global")
    shell.ok("recall", "--save", "我喜欢深色主题", "--global")
    return shell


def test_project_roots(shell: Shell) -> None:
    shell.ok("recall", "--save", "before")
    put(shell, "project_roots", [str(shell.root)])
    shell.ok("recall", "--save", "after")
    projects = {entry["text"]: entry["project"] for entry in shell.json("export")["memories"]}
    assert projects["before"].startswith("shop-")
    assert projects["after"] != projects["before"] and not projects["after"].startswith("shop-")


def test_project_scope_enabled(told: Shell) -> None:
    assert told.json("recall", "parser", "--project", "elsewhere")["items"] == []
    put(told, "project_scope_enabled", False)
    assert told.json("recall", "parser", "--project", "elsewhere")["items"]


def test_max_recall_items(told: Shell) -> None:
    def notes() -> int:
        return told.ok("brief", "--project", "shop", "--prompt", "How does the parser read tokens?").count("note ")

    put(told, "brief_token_limit", 4000)
    full = notes()
    put(told, "max_recall_items", 2)
    assert full > notes() > 0


def test_long_term_profile_token_limit(told: Shell) -> None:
    assert "docs first" in told.ok("brief", "--project", "shop")
    put(told, "long_term_profile_token_limit", 0)
    assert "docs first" not in told.ok("brief", "--project", "shop")


def test_brief_token_limit(told: Shell) -> None:
    before = told.json("brief", "--project", "shop")
    put(told, "brief_token_limit", 120)
    after = told.json("brief", "--project", "shop")
    assert after["tokens"] <= 120 < before["tokens"]
    assert set(after["items"]) < set(before["items"])


def test_semantic_match_threshold(told: Shell) -> None:
    assert told.json("recall", "parser tokens speed", "--project", "shop")["items"]
    put(told, "semantic_match_threshold", 1)
    assert told.json("recall", "parser tokens speed", "--project", "shop")["items"] == []


def test_recency_half_life_days(shell: Shell) -> None:
    shell.talk("old", "We decided to use PostgreSQL for the orders.", day="2026-01-01")
    shell.ok("import", "old.jsonl")
    shell.ok("work")

    def why() -> str:
        [item] = shell.json("recall", "PostgreSQL orders", "--project", "shop", "--kind", "decision")["items"]
        return str(item["why"])

    put(shell, "recency_half_life_days", {"decision": 30_000})
    assert "older" not in why()
    put(shell, "recency_half_life_days", {"decision": 30})
    assert "older" in why()


def test_working_memory_max_age(shell: Shell) -> None:
    shell.talk("idle", "Remember: I always use pnpm, never npm.", day="2026-06-30")
    shell.ok("import", "idle.jsonl")
    put(shell, "working_memory_max_age", 60 * 24 * 20)
    shell.ok("work", "--background")
    assert shell.json("status")["pending"] == 1
    put(shell, "working_memory_max_age", 30)
    shell.ok("work", "--background")
    assert shell.json("status")["pending"] == 0


@pytest.mark.parametrize(("sessions", "scope"), [(1, "global"), (2, "project")])
def test_preference_confirm_threshold(shell: Shell, sessions: int, scope: str) -> None:
    put(shell, "preference_confirm_threshold", sessions)
    shell.talk("one", "以后都用中文写提交说明。")
    shell.ok("import", "one.jsonl")
    shell.ok("work")
    assert [entry["scope"] for entry in shell.json("export")["memories"] if entry["status"] == "live"] == [scope]


def test_auto_forget_after_days(shell: Shell) -> None:
    shell.talk("old", "Remember: I always use pnpm, never npm.", day="2026-01-01")
    shell.ok("import", "old.jsonl")
    shell.ok("work")
    shell.ok("recall", "--save", "pinned", "--project", "shop")
    assert shell.json("stats")["memories"] == {"live": 2}
    put(shell, "auto_forget_after_days", 400)
    shell.ok("work")
    assert shell.json("stats")["memories"] == {"live": 2}
    put(shell, "auto_forget_after_days", 90)
    shell.ok("work")
    assert shell.json("stats")["memories"] == {"live": 1, "superseded": 1}


@pytest.mark.parametrize("wanted", [True, False])
def test_redact_secrets(shell: Shell, wanted: bool) -> None:
    put(shell, "redact_secrets", wanted)
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    shell.talk("secret", f"My token is {token}, do not lose it.")
    shell.ok("import", "secret.jsonl")
    content = shell.json("sessions", "show", "secret")["messages"][0]["content"]
    assert (token in content, "[secret:" in content) == (not wanted, wanted)


def test_language(shell: Shell) -> None:
    assert "memories in force" in shell.ok("stats")
    put(shell, "language", "zh")
    assert "有效记忆" in shell.ok("stats")
    shell.ok("recall", "--save", "tabs", "--global")
    assert "关于用户" in shell.ok("brief", "--project", "shop")
    put(shell, "language", "auto")
    assert "About the user" in shell.ok("brief", "--project", "shop")
