"""Every host at its hooks, through the program itself: told once what is known, in the shape that the host takes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tests.clients
from catmem.clients.catalogue import CLIENTS
from catmem.inject.told import BRIEF, tell
from catmem.settings.places import Places
from tests.cli.shell import Shell
from tests.clients.schema import faults
from tests.clients.talk import Talk

# Seconds, far above any run seen: it only turns a worker that never came into a failure.
PATIENCE = 60.0
HOSTS = [client for client, row in CLIENTS.items() if row["hooks"]]
FACTS = {"en": "The staging database is on port 5433", "zh": "测试数据库的端口是 5433"}
ASKED = {"en": "Which port has the staging database?", "zh": "测试数据库的端口是多少？"}


def event_of(client: str, ours: str) -> str:
    return next(event for event, name in CLIENTS[client]["events"].items() if name == ours)


def hook(shell: Shell, client: str, ours: str, **more: Any) -> str:
    """What a host hears at one of our events; checked against its schema."""
    event = event_of(client, ours)
    payload = {
        "session_id": "s1",
        "conversation_id": "s1",
        "cwd": str(shell.folder),
        "workspace_roots": [str(shell.folder)],
        "transcript_path": "",
        **more,
    }
    said = shell.ok("hook", client, event, typed=json.dumps(payload))
    folder = "gemini_cli" if client == "gemini" else client.replace("-", "_")
    schema = json.loads((Path(tests.clients.__path__[0]) / folder / "golden" / "schema.json").read_bytes())[event]
    assert said == "" or faults(json.loads(said), schema) == []
    return said


@pytest.mark.parametrize("language", list(FACTS))
@pytest.mark.parametrize("client", HOSTS)
def test_a_session_is_told_at_its_start_and_not_again_at_a_prompt(
    shell_in: Callable[[str], Shell], client: str, language: str
) -> None:
    shell = shell_in(language)
    shell.ok("recall", "--save", FACTS[language], "--global")
    shell.ok("work")
    assert "5433" in hook(shell, client, "SessionStart", source="startup")
    assert "5433" not in hook(shell, client, "UserPromptSubmit", prompt=ASKED[language])
    assert hook(shell, client, "Stop", last_assistant_message="5433", reply="5433") == ""
    shown = shell.json("sessions", "show", f"{client}:s1")["messages"]
    assert shown[0]["content"] == ASKED[language]


def test_a_resumed_session_is_told_once_and_again_when_it_is_compacted(shell: Shell) -> None:
    shell.ok("recall", "--save", FACTS["en"], "--global")
    shell.ok("work")
    assert "5433" in hook(shell, "codex", "SessionStart", source="resume")
    assert hook(shell, "codex", "SessionStart", source="resume") == ""
    assert "5433" in hook(shell, "codex", "SessionStart", source="compact"), "compacted later, it is told again"


def test_what_the_proxy_tells_in_each_request_is_not_told_by_a_hook_too(shell: Shell) -> None:
    shell.ok("recall", "--save", FACTS["en"], "--global")
    shell.ok("work")
    tell(Places(str(shell.data)), "claude-code:s1", door="proxy", event=BRIEF, project="p", at="x", text="5433")
    assert hook(shell, "claude-code", "SessionStart", source="compact") == ""
    assert "5433" in hook(shell, "claude-code", "SessionStart", source="startup", session_id="s2")


@pytest.mark.parametrize(
    ("said", "learned"),
    [
        ("We deploy with Helm 3.14, not with raw manifests.", "Helm"),
        ("我们用 Helm 部署，不要直接用清单文件。", "Helm"),
    ],
    ids=["en", "zh"],
)
def test_a_turn_in_which_files_were_changed_is_distilled_while_the_session_goes_on(
    shell: Shell, said: str, learned: str
) -> None:
    talk = Talk(session="s1", folder=str(shell.folder)).user("u1", said).says("a1", "On it.")
    path = talk.write(shell.root)
    hook(shell, "claude-code", "Stop", transcript_path=str(path))
    assert not Path(Places(str(shell.data)).changes).exists() and not learned_of(shell, learned)

    talk.user("u2", "Now the chart, please.").calls("a2", "c1", "Edit", file_path="chart.yaml", old_string="a")
    talk.result("r2", "c1", "The file chart.yaml has been updated.").says("a3", "Done.").write(shell.root)
    hook(shell, "claude-code", "Stop", transcript_path=str(path))
    (stamp,) = Path(Places(str(shell.data)).changes).iterdir()
    until = time.monotonic() + PATIENCE
    while not learned_of(shell, learned) and time.monotonic() < until:
        time.sleep(0.1)
    assert learned_of(shell, learned), "a worker took it up"

    started = stamp.stat().st_mtime
    talk.user("u3", "And the values.").calls("a4", "c2", "Write", file_path="values.yaml", content="a: 1")
    talk.result("r4", "c2", "File created.").says("a5", "Done.").write(shell.root)
    hook(shell, "claude-code", "Stop", transcript_path=str(path))
    assert stamp.stat().st_mtime == started, "no worker a turn"


def learned_of(shell: Shell, word: str) -> bool:
    """By the ledger: each command of a shell is a minute."""
    return any(word in file.read_text("utf-8") for file in (shell.data / "ledger").glob("*.jsonl"))


def test_an_event_that_we_do_not_know_is_answered_with_nothing(shell: Shell) -> None:
    for client in HOSTS:
        assert shell.ok("hook", client, "PreCompress", typed="{}") == ""
    assert not shell.data.exists()
