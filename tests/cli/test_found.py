from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tests.cli.shell import Shell

AIDER = "\n# aider chat started at 2026-06-30 09:00:00\n\n#### use tabs  \n\nI will.\n"


@pytest.fixture
def machine(shell: Shell) -> Shell:
    """There are histories of two tools on it, one of them in the folder where commands run."""
    shell.write(".aider.chat.history.md", AIDER)
    folder = shell.home / ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/7"
    folder.mkdir(parents=True)
    task = {"ts": 1782810000000, "type": "say", "say": "task", "text": "泡茶"}
    (folder / "ui_messages.json").write_text(json.dumps([task]))
    return shell


def kept(shell: Shell) -> set[str]:
    return {session["key"] for session in shell.json("sessions")["sessions"]}


def test_what_is_on_the_machine_is_shown_and_asked_about(machine: Shell) -> None:
    refused = machine.mem("import", typed="n\n")
    assert refused.code == 12
    assert "aider" in refused.out and "cline" in refused.out and "import 2 sessions?" in refused.out
    assert kept(machine) == set()
    machine.ok("import", typed="y\n")
    assert kept(machine) == {"aider:2026-06-30T09:00:00", "cline:7"}


def test_yes_does_not_ask_and_a_second_time_there_is_nothing_to_ask(machine: Shell) -> None:
    done = machine.json("import", "--yes")
    assert (done["sessions"], done["messages_new"]) == (2, 3)
    assert [(one["client"], one["messages_new"]) for one in done["found"]] == [("aider", 2), ("cline", 1)]
    assert machine.json("import", typed=None)["messages_known"] == 3


def test_one_client_may_be_chosen(machine: Shell) -> None:
    assert [one["client"] for one in machine.json("import", "--yes", "--from", "cline")["found"]] == ["cline"]
    assert kept(machine) == {"cline:7"}


def test_nobody_to_ask_imports_nothing(machine: Shell) -> None:
    assert machine.mem("import", typed=None).code == 12
    assert kept(machine) == set()


def test_a_dry_run_asks_nothing_and_tells_what_distilling_costs(
    machine: Shell, shell_in: Callable[[str], Shell]
) -> None:
    told = machine.ok("import", "--dry-run")
    assert "2 sessions: 3 messages would be new" in told
    assert "no tokens" in told
    assert "不消耗 token" in shell_in("zh").ok("import", "--dry-run")
    assert kept(machine) == set()
    model = {"name": "m", "api": "openai", "base_url": "http://127.0.0.1:9", "model": "m", "api_key_env": "NONE"}
    machine.ok("config", "set", "models", json.dumps([model]))
    assert "at most about 7 tokens" in machine.ok("import", "--dry-run")


def test_where_there_is_nothing_it_says_so(shell: Shell) -> None:
    assert "name a file or a folder" in shell.ok("import", typed=None)
    assert shell.json("import", "--yes") == {
        "sessions": 0, "messages_new": 0, "messages_known": 0, "problems": [], "found": []
    }  # fmt: skip


def test_a_project_and_xdg_are_respected(machine: Shell) -> None:
    (machine.home / ".config").rename(machine.root / "config")
    assert [one["client"] for one in machine.json("import", "--dry-run")["found"]] == ["aider"]
    moved = {"XDG_CONFIG_HOME": str(machine.root / "config")}
    machine.ok("import", "--yes", "--project", "kitchen", environment=moved)
    assert len(machine.json("sessions", "--project", "kitchen")["sessions"]) == 2
