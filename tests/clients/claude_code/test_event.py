from __future__ import annotations

import json

import pytest

from catmem.clients.claude_code.event import parse, typed_event
from catmem.clients.claude_code.reply import answer
from catmem.domain.helper import HELPER_ENV, HELPER_MARKER, is_helper_environment, is_helper_prompt

PAYLOAD = {
    "session_id": "6f1c",
    "transcript_path": "/home/kim/.claude/projects/-x/6f1c.jsonl",
    "cwd": "/home/kim/茶",
    "hook_event_name": "UserPromptSubmit",
    "prompt_id": "p1",
    "prompt": "<ide_selection>x</ide_selection>\n改成 green",
}


def test_a_payload_in_our_words() -> None:
    event = typed_event("UserPromptSubmit", PAYLOAD)
    assert (event.client, event.name, event.session) == ("claude-code", "UserPromptSubmit", "claude-code:6f1c")
    assert (event.cwd, event.transcript, event.prompt_id) == ("/home/kim/茶", PAYLOAD["transcript_path"], "p1")
    assert event.prompt == "改成 green"
    assert not event.helper and not event.agent_id


@pytest.mark.parametrize("payload", [{}, {"session_id": 7, "prompt": ["x"], "cwd": None}, {"session_id": ""}])
def test_a_strange_payload_is_an_event_without_a_session(payload: dict[str, object]) -> None:
    event = parse("Stop", payload)
    assert event["session"] == "" and event["prompt"] == "" and event["cwd"] == ""


def test_a_reply_and_the_reasons() -> None:
    stop = parse("Stop", {"session_id": "s", "last_assistant_message": "done", "agent_id": "a"})
    assert (stop["reply"], stop["agent_id"]) == ("done", "a")
    assert parse("SessionStart", {"session_id": "s", "source": "resume"})["source"] == "resume"
    assert parse("SessionEnd", {"session_id": "s", "reason": "clear"})["reason"] == "clear"


def test_our_helper_is_known_by_its_prompt_or_its_environment() -> None:
    assert parse("UserPromptSubmit", {"session_id": "s", "prompt": f"{HELPER_MARKER} list facts"})["helper"]
    assert is_helper_prompt("\n[memory-helper v2] later version")
    assert not is_helper_prompt("what is [memory-helper v1]?")
    assert is_helper_environment({HELPER_ENV: "1"})
    assert not is_helper_environment({HELPER_ENV: "0"}) and not is_helper_environment({})


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit"])
def test_context_goes_where_the_host_takes_it(event: str) -> None:
    said = answer(event, "记忆 🐈 \u2028", "2 memories")
    assert said.isascii()
    assert json.loads(said) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "记忆 🐈 \u2028"},
        "systemMessage": "2 memories",
    }
    assert answer(event) == b""


@pytest.mark.parametrize("event", ["Stop", "SessionEnd", "PreCompact", "PostCompact", "PreToolUse"])
def test_every_other_event_is_answered_with_nothing(event: str) -> None:
    assert answer(event, "context", "notice") == b""
