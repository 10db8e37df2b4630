"""`mem install` and `mem uninstall`, with a name and without one; what `mem status` says of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.shell import Shell

NO_PROGRAMS = {"PATH": "/nowhere"}
CONFIG = '# 我的设置\nmodel = "x"\n'
SETTINGS = '{\n  // mine\n  "theme": "dark"\n}\n'


def machine(shell: Shell) -> dict[Path, bytes]:
    """A home with Codex and Gemini CLI in it; returns their files."""
    for name, text in ((".codex/config.toml", CONFIG), (".gemini/settings.json", SETTINGS)):
        path = shell.home / name
        path.parent.mkdir()
        path.write_text(text)
    return files(shell)


def files(shell: Shell) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in shell.home.glob(".[!c]*/*") if path.is_file()} | {
        path: path.read_bytes() for path in shell.home.glob(".codex/*")
    }


def test_all_that_is_found_goes_in_and_out_again(shell: Shell) -> None:
    before = machine(shell)
    done = shell.json("install", "--yes", environment=NO_PROGRAMS)
    assert [(it["client"], it["changed"]) for it in done["clients"]] == [("codex", True), ("gemini", True)]
    assert set(done["clients"][0]) == {"client", "file", "files", "changed"}
    within = files(shell)
    assert within != before and all(b"mem" in within[path] for path in before)
    again = shell.json("install", "--yes", environment=NO_PROGRAMS)
    assert [it["changed"] for it in again["clients"]] == [False, False] and files(shell) == within

    assert [it["client"] for it in shell.json("status")["connected"]] == ["codex", "gemini"]
    gone = shell.json("uninstall", "--yes")
    assert [(it["client"], it["changed"]) for it in gone["clients"]] == [("codex", True), ("gemini", True)]
    assert files(shell) == before
    assert shell.json("uninstall", "--yes") == {"clients": []}
    assert shell.json("status")["connected"] == []


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 12), ("\n", 12), ("", 12)])
def test_it_asks_first(shell: Shell, typed: str, code: int) -> None:
    before = machine(shell)
    done = shell.mem("install", typed=typed, environment=NO_PROGRAMS)
    assert done.code == code
    assert "Codex" in done.out and "Gemini CLI" in done.out and "Connect them? [y/N]" in done.out
    assert (files(shell) != before) is (code == 0)
    if code == 0:
        assert shell.mem("uninstall", typed="n\n").code == 12 and files(shell) != before
        assert "Disconnect Codex, Gemini CLI?" in shell.ok("uninstall", typed="y\n")
        assert files(shell) == before


def test_who_has_to_trust_is_told_in_both_languages(shell_in: Callable[[str], Shell]) -> None:
    assert "/hooks" in shell_in("en").ok("install", "codex")
    shell_in("en").ok("uninstall", "codex")
    said = shell_in("zh").ok("install", "codex")
    assert "Codex 已接入" in said and "输入 /hooks" in said


def test_one_that_cannot_be_understood_keeps_no_other_from_it(shell: Shell) -> None:
    machine(shell)
    broken = shell.home / ".codex" / "hooks.json"
    broken.write_text("{")
    done = shell.mem("install", "--yes", "--json", environment=NO_PROGRAMS)
    assert done.code == 2 and "hooks.json" in done.err and "left untouched" in done.err
    assert [it["client"] for it in json.loads(done.out)["clients"]] == ["gemini"]
    assert broken.read_text() == "{" and (shell.home / ".codex" / "config.toml").read_text() == CONFIG


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("install",), 4, "no assistant was found"),
        (("install", "--config-dir", "x"), 2, "name the assistant"),
        (("install", "codex", "--plugin-dir", "x"), 2, "no plugin folder"),
        (("install", "claude-code", "--plugin-dir", "x", "--config-dir", "y"), 2, "exclude each other"),
    ],
)
def test_what_makes_no_sense_is_said(shell: Shell, arguments: tuple[str, ...], code: int, told: str) -> None:
    done = shell.mem(*arguments, environment=NO_PROGRAMS)
    assert (done.code, done.out) == (code, "") and told in done.err


def test_a_plugin_folder_is_written_and_taken_away(shell: Shell) -> None:
    done = shell.json("install", "claude-code", "--plugin-dir", "plugin")
    assert len(done["files"]) == 3 and (shell.folder / "plugin" / ".claude-plugin" / "plugin.json").is_file()
    assert not (shell.home / ".claude").exists()
    shell.ok("uninstall", "claude-code", "--plugin-dir", "plugin")
    assert not (shell.folder / "plugin").exists()


def test_status_says_what_is_connected_and_what_is_read(shell: Shell) -> None:
    assert "`mem install` does it" in shell.ok("status")
    shell.ok("install", "claude-code")
    folder = shell.home / ".claude" / "projects" / "shop"
    folder.mkdir(parents=True)
    path = folder / "s1.jsonl"
    payload = {"session_id": "s1", "transcript_path": str(path), "cwd": str(shell.folder), "prompt": "we use pnpm"}
    shell.ok("hook", "claude-code", "UserPromptSubmit", typed=json.dumps(payload))
    status = shell.json("status")
    assert status["connected"][0]["client"] == "claude-code" and status["connected"][0]["current"]
    assert status["sources"] == [{"client": "claude-code", "folder": str(folder), "files": 1}]
    said = shell.ok("status")
    assert "connected: Claude Code" in said and f"read on: 1 transcript in {folder}" in said

    settings = shell.home / ".claude" / "settings.json"
    settings.write_text(settings.read_text().replace("hook claude-code Stop", "hook claude-code PostToolUse"))
    assert "`mem install claude-code` renews it" in shell.ok("status")
