"""Models from the command line: which work, what they cost, and that what they are asked is nobody's session."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.shell import NOW, Shell
from tests.llm.fake_server import FakeServer, Reply, serving

KEY = "sk-secret-0123456789abcdef"


def selecting(number: int, progress: str) -> str:
    fact = {"n": number, "kind": "convention", "scope": "project", "sure": True, "words": ""}
    digest = {"progress": progress, "topics": []}
    return json.dumps({"facts": [fact], "decisions": [], "questions": [], "digest": digest}, ensure_ascii=False)


GOOD = {"en": selecting(2, "the build is red"), "zh": selecting(2, "构建红了")}


def configure(shell: Shell, *rows: dict[str, Any]) -> None:
    shell.ok("config", "set", "models", json.dumps(rows))
    shell.environment["MY_KEY"] = KEY


def row(name: str, server: FakeServer, **more: str) -> dict[str, str]:
    return {"name": name, "api": "openai", "base_url": server.url, "model": "m-1", "api_key_env": "MY_KEY", **more}


def program(shell: Shell, script: str, name: str = "program") -> dict[str, Any]:
    file = shell.root / f"{name}.sh"
    file.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    file.chmod(0o755)
    return {"name": name, "api": "command", "command": [str(file)]}


# A program that selects as it should, in the language that it is asked in.
SELECTS = f"""asked=$(cat)
case $asked in *数据库*) echo {shlex.quote(GOOD["zh"])};; *) echo {shlex.quote(GOOD["en"])};; esac"""


def test_each_model_is_tried_and_what_works_is_said(shell: Shell) -> None:
    good = Reply((GOOD["en"],), usage=(100, 20)), Reply((GOOD["zh"],), usage=(110, 21))
    with serving(*good) as server, serving(Reply(status=401)) as locked, serving(Reply(("Sure, I did!",))) as chatty:
        configure(shell, row("good", server), row("locked", locked), row("chatty", chatty), program(shell, SELECTS))
        ended = shell.mem("models", "check", "--json")
    assert ended.code == 0 and ended.json["works"] == 2
    found = {record["name"]: record for record in ended.json["models"]}
    assert [found[name]["works"] for name in ("good", "locked", "chatty", "program")] == [True, False, False, True]
    for name in ("good", "program"):
        assert all(found[name][grade] for grade in ("reachable", "follows_form", "keeps_language", "selects_right"))
    assert found["good"]["input_tokens"] == 210 and found["good"]["output_tokens"] == 41
    assert found["good"]["key"] == {"variable": "MY_KEY", "set": True} and found["program"]["key"] is None
    assert found["locked"]["reachable"] and found["locked"]["failure"]["kind"] == "401"
    assert found["chatty"]["failure"] is None and not found["chatty"]["follows_form"]
    assert KEY not in ended.out + ended.err
    assert "tool" not in json.dumps(server.bodies)


@pytest.mark.parametrize(("language", "words"), [("en", "works"), ("zh", "可用")])
def test_it_is_said_in_the_users_language(shell_in: Callable[[str], Shell], language: str, words: str) -> None:
    shell = shell_in(language)
    with serving(Reply(status=401)) as locked:
        configure(shell, program(shell, SELECTS), row("locked", locked))
        ended = shell.mem("models", "check")
    good, *_, bad = ended.out.strip().split("\n")
    assert ended.code == 0 and good.startswith("✓ program") and words in good
    assert bad.startswith("✗ locked (m-1, 127.0.0.1:") and "MY_KEY" in bad and KEY not in ended.out


def test_what_is_wrong_with_its_answers_is_said(shell: Shell) -> None:
    configure(shell, program(shell, "echo '```json'; echo " + shlex.quote(GOOD["zh"]) + "; echo '```'"))
    ended = shell.mem("models", "check", "--json")
    [record] = ended.json["models"]
    assert ended.code == 0 and record["works"] and record["selects_right"] and not record["keeps_language"]
    assert "another language" in shell.mem("models", "check").out


@pytest.mark.parametrize(
    ("kind", "script"),
    [("setup", None), ("command", "exit 1")],
)
def test_none_works(shell: Shell, kind: str, script: str | None) -> None:
    configure(shell, program(shell, script) if script else {"api": "command", "command": ["catmem-no-such-program"]})
    ended = shell.mem("models", "check", "--json")
    assert ended.code == 1 and ended.json["models"][0]["failure"]["kind"] == kind


def test_none_is_configured(shell: Shell) -> None:
    ended = shell.mem("models", "check", "--json")
    assert ended.code == 1 and ended.json == {"models": [], "works": 0} and "config set models" in ended.err


def test_what_it_costs_is_told_by_model(shell: Shell) -> None:
    assert shell.json("stats")["spend"] == {"budget": 200_000, "today": {}, "total": {}}
    assert "models" not in shell.ok("stats")
    with serving(Reply((GOOD["en"],), usage=(1000, 200))) as server:
        configure(shell, row("one", server), program(shell, SELECTS))
        shell.ok("models", "check")
    spend = shell.json("stats")["spend"]
    assert spend["today"]["one"] == {"calls": 2, "input_tokens": 2000, "output_tokens": 400}
    assert spend["total"].keys() == {"one", "program"}
    out = shell.ok("stats")
    assert "of 200,000 tokens in 4 calls" in out and "one 2,400 tokens (2 calls)" in out


def test_status_says_when_work_waits_for_the_budget_and_who_rests(shell_in: Callable[[str], Shell]) -> None:
    shell = shell_in("zh")
    assert shell.json("status")["models"]["configured"] == [] and "模型" not in shell.ok("status")
    configure(shell, program(shell, SELECTS))
    quiet = shell.json("status")["models"]
    assert quiet["configured"] == ["program"] and not quiet["waiting_for_budget"] and quiet["resting"] == {}
    day = time.strftime("%Y-%m-%d", time.gmtime(NOW.timestamp()))
    spent = {"calls": 3, "input_tokens": 1500, "output_tokens": 400}
    account = {"day": day, "today": {"program": spent}, "total": {"program": spent}, "refused": 500}
    (shell.data / "run" / "spending.json").write_text(json.dumps(account))
    shell.ok("config", "set", "daily_token_budget", "2000")
    assert shell.json("status")["models"] == {**quiet, "budget": 2000, "spent_today": 1900, "waiting_for_budget": True}
    assert "今天的模型预算已用完" in shell.ok("status")
    shell.ok("config", "set", "daily_token_budget", "200000")
    assert not shell.json("status")["models"]["waiting_for_budget"]


@pytest.mark.parametrize(("known_by", "sessions"), [("environment", 0), ("marker", 0), ("nothing", 1)])
def test_what_a_program_is_asked_is_never_captured(shell: Shell, known_by: str, sessions: int) -> None:
    """The program is an assistant whose hooks call us with what it was asked, as with a person's prompt."""
    shell.ok("init")
    heard = shell.root / "heard.json"
    payload = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s1",
        "cwd": str(shell.folder),
        "transcript_path": "",
    }
    writes = (
        "import json, sys; asked = sys.stdin.read();"
        f"asked = asked if {known_by == 'marker'} else asked[asked.index('\\n\\n'):];"
        f"print(json.dumps({payload} | {{'prompt': asked}}))"
    )
    python = shlex.quote(sys.executable)
    calls_hook = f"""asked=$(cat)
    printf %s "$asked" | {python} -c {shlex.quote(writes)} > {heard}
    {"" if known_by == "environment" else "unset CATMEM_HELPER"}
    {python} -m catmem hook claude-code UserPromptSubmit < {heard} > /dev/null
    printf %s "$asked" | ({SELECTS})"""
    configure(shell, program(shell, calls_hook))
    shell.environment["CATMEM_DIR"] = str(shell.data)
    assert shell.json("models", "check")["works"] == 1
    assert json.loads(heard.read_text("utf-8"))["prompt"], "the hook was not called"
    assert len(shell.json("sessions")["sessions"]) == sessions


def test_a_transcript_of_a_program_is_never_imported(shell: Shell, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    configure(shell, program(shell, f"tee {asked} > /dev/null; echo {{}}"))
    shell.mem("models", "check")
    folder = shell.home / "transcripts"
    folder.mkdir()
    for session, said in (("ours", asked.read_text("utf-8")), ("theirs", "Which port?")):
        kept = {"sessionId": session, "cwd": "/x", "timestamp": "2026-06-30T10:00:00.000Z", "version": "2.0"}
        prompt = {**kept, "type": "user", "uuid": "u1", "message": {"role": "user", "content": said}}
        (folder / f"{session}.jsonl").write_text(json.dumps(prompt) + "\n", "utf-8")
    shell.ok("import", str(folder), "--from", "claude-code")
    assert [header["key"] for header in shell.json("sessions")["sessions"]] == ["claude-code:theirs"]
