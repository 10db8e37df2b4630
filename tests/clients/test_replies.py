"""What every host is answered at every event, byte for byte, and that its own schema takes it.

The golden files are made by hand from what the hosts say of their hooks; `schema.json` beside them has, for each event,
what the host reads, and {} where it wants nothing at all.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from catmem.clients.catalogue import CLIENTS
from tests.clients.schema import faults

FOLDERS = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini_cli",
    "opencode": "opencode",
    "cursor": "cursor",
}
CONTEXTS = {
    "en": '<catmem-memory version="1">\n- The staging database is on port 5433.\n</catmem-memory>',
    "zh": '<catmem-memory version="1">\n- 测试数据库在 5433 端口。“引号”与 🐈\n</catmem-memory>',
}
NOTICES = {"en": "catmem: 2 memories loaded", "zh": "catmem：已载入 2 条记忆"}
EVENTS = [(client, event) for client in FOLDERS for event in CLIENTS[client]["events"]]


def golden(client: str, name: str) -> Path:
    return Path(__file__).parent / FOLDERS[client] / "golden" / name


def answer(client: str, event: str, context: str, notice: str) -> bytes:
    said: bytes = import_module(CLIENTS[client]["reply"]).answer(event, context, notice)
    return said


def test_every_host_with_hooks_is_held_to_its_schema() -> None:
    assert {client for client, row in CLIENTS.items() if row["hooks"]} == set(FOLDERS)


@pytest.mark.parametrize("language", list(CONTEXTS))
@pytest.mark.parametrize(("client", "event"), EVENTS)
def test_an_answer_is_the_golden_one_and_valid(client: str, event: str, language: str) -> None:
    said = answer(client, event, CONTEXTS[language], NOTICES[language])
    assert said == golden(client, f"{event}.{language}.json").read_bytes()
    schema = json.loads(golden(client, "schema.json").read_bytes())[event]
    if not schema:
        assert said == b""
        return
    value = json.loads(said)
    assert faults(value, schema) == []
    assert CONTEXTS[language] in _texts(value), "the context must arrive as it is"


@pytest.mark.parametrize(("client", "event"), EVENTS)
def test_who_has_nothing_to_say_says_nothing(client: str, event: str) -> None:
    assert answer(client, event, "", "") == b""


@pytest.mark.parametrize(
    ("client", "event", "foreign"),
    [
        ("codex", "SessionStart", {"additionalContext": "x"}),
        ("codex", "SessionStart", {"hookSpecificOutput": {"hookEventName": "SessionStart", "sessionTitle": "x"}}),
        ("codex", "SessionStart", {"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": "x"}}),
        ("claude-code", "SessionStart", {"hookSpecificOutput": {"additionalContext": "x"}}),
        ("gemini", "BeforeAgent", {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": 7}}),
        ("cursor", "sessionStart", {"hookSpecificOutput": {}}),
    ],
)
def test_a_schema_refuses_what_the_host_refuses(client: str, event: str, foreign: dict[str, Any]) -> None:
    assert faults(foreign, json.loads(golden(client, "schema.json").read_bytes())[event])


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for part in value.values() for text in _texts(part)]
    return [value] if isinstance(value, str) else []
