"""What each host says to its hooks, in our words: made-up payloads in the shape of theirs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from catmem.clients.catalogue import CLIENTS

SESSION = "01a22c50-1010-7610-9650-69930b5d3797"
COMMON = {"session_id": SESSION, "transcript_path": "/h/talk.jsonl", "cwd": "/h/茶"}
OURS = '<hook_context>&lt;catmem-memory version="1"&gt;\n- port 1\n&lt;/catmem-memory&gt;</hook_context>'


def parsed(client: str, event: str, payload: dict[str, Any]) -> dict[str, Any]:
    event_of: dict[str, Any] = import_module(CLIENTS[client]["hooks"]).parse(event, payload)
    return event_of


@pytest.mark.parametrize(
    ("client", "event", "payload", "wanted"),
    [
        ("codex", "SessionStart", {"source": "compact"}, {"name": "SessionStart", "source": "compact"}),
        (
            "codex",
            "UserPromptSubmit",
            {"turn_id": "t1", "prompt": "# Context from my IDE setup:\n\nx\n\n## My request for Codex:\n改成 green"},
            {"name": "UserPromptSubmit", "prompt": "改成 green", "prompt_id": "t1"},
        ),
        ("codex", "UserPromptSubmit", {"prompt": "<turn_aborted>x</turn_aborted>"}, {"prompt": ""}),
        ("codex", "Stop", {"turn_id": "t1", "last_assistant_message": "done"}, {"name": "Stop", "reply": "done"}),
        ("codex", "Stop", {"agent_id": "a1"}, {"agent_id": "a1"}),
        ("codex", "SessionEnd", {"reason": "other"}, {"name": "SessionEnd", "reason": "other"}),
        ("codex", "Stop", {"transcript_path": None}, {"transcript": ""}),
        ("gemini", "SessionStart", {"source": "resume"}, {"name": "SessionStart", "source": "resume"}),
        (
            "gemini",
            "BeforeAgent",
            {"prompt": f"{OURS}\n\n哪个端口？"},
            {"name": "UserPromptSubmit", "prompt": "哪个端口？"},
        ),
        ("gemini", "BeforeAgent", {"prompt": f"which?{OURS}"}, {"prompt": f"which?{OURS}"}),
        ("gemini", "AfterAgent", {"prompt_response": "1. ."}, {"name": "Stop", "reply": ""}),
        ("gemini", "AfterAgent", {"prompt_response": "1.", "transcript_path": ""}, {"name": "Stop", "reply": "1."}),
        ("gemini", "SessionEnd", {"reason": "exit"}, {"name": "SessionEnd", "reason": "exit"}),
        ("opencode", "system.transform", {}, {"name": "SessionStart", "source": ""}),
        (
            "opencode",
            "chat.message",
            {"prompt": "哪个端口？", "prompt_id": "msg_1"},
            {"name": "UserPromptSubmit", "prompt": "哪个端口？", "prompt_id": "msg_1"},
        ),
        ("opencode", "session.idle", {"reply": "1"}, {"name": "Stop", "reply": "1"}),
    ],
)
def test_a_payload_in_our_words(client: str, event: str, payload: dict[str, Any], wanted: dict[str, Any]) -> None:
    found = parsed(client, event, {**COMMON, **payload})
    assert found["session"] == f"{client}:{SESSION}" and found["client"] == client
    assert found["cwd"] == "/h/茶" and found["helper"] is False
    assert {name: found[name] for name in wanted} == wanted


def test_cursor_names_a_talk_a_conversation() -> None:
    payload = {"conversation_id": "c1", "generation_id": "g1", "workspace_roots": ["/h/茶", "/h/b"], "prompt": "hi"}
    found = parsed("cursor", "beforeSubmitPrompt", payload)
    assert (found["session"], found["cwd"], found["prompt_id"]) == ("cursor:c1", "/h/茶", "g1")
    assert (found["name"], found["prompt"]) == ("UserPromptSubmit", "hi")


@pytest.mark.parametrize("client", [client for client, row in CLIENTS.items() if row["hooks"]])
@pytest.mark.parametrize(
    "payload", [{}, {"session_id": 7, "conversation_id": [], "prompt": ["x"], "cwd": None, "workspace_roots": [3]}]
)
def test_a_strange_payload_is_an_event_without_a_session(client: str, payload: dict[str, Any]) -> None:
    for event in CLIENTS[client]["events"]:
        found = parsed(client, event, payload)
        assert (found["session"], found["prompt"], found["cwd"]) == ("", "", "")


@pytest.mark.parametrize("client", [client for client, row in CLIENTS.items() if row["hooks"]])
def test_our_helper_is_known_by_its_prompt(client: str) -> None:
    asked = next(event for event, ours in CLIENTS[client]["events"].items() if ours == "UserPromptSubmit")
    payload = {**COMMON, "conversation_id": "c", "prompt": "[memory-helper v1] list facts"}
    assert parsed(client, asked, payload)["helper"] is True
