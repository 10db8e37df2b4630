"""`mem why`, and sessions in pure mode, as a person meets them, in both languages."""

from __future__ import annotations

import json

import pytest

from tests.cli.shell import Shell

SESSION = "0f3cbb0e-7a45-4a2e-9d0a-3f2f5d1c9b11"
KEY = f"claude-code:{SESSION}"


@pytest.fixture(params=["en", "zh"])
def shell(request, shell_in) -> Shell:
    return shell_in(request.param)


def hook(shell: Shell, event: str, environment=None, **own: str) -> dict:
    payload = {
        "session_id": SESSION,
        "transcript_path": str(shell.root / "transcript.jsonl"),
        "cwd": str(shell.folder),
        "hook_event_name": event,
        **own,
    }
    said = shell.ok("hook", "claude-code", event, typed=json.dumps(payload), environment=environment)
    return json.loads(said) if said else {}


def transcript(shell: Shell) -> None:
    rows = [
        {"type": role, "uuid": str(n), "parentUuid": str(n - 1) if n else None, "sessionId": SESSION,
         "timestamp": f"2026-07-01T12:0{n}:00.000Z", "cwd": str(shell.folder),
         "message": {"role": role, "content": text}}
        for n, (role, text) in enumerate([("user", "Remember: the secret garden is 秘密花园"), ("assistant", "ok")])
    ]  # fmt: skip
    shell.write("../transcript.jsonl", "".join(json.dumps(row) + "\n" for row in rows))


def test_why_shows_what_was_told_and_where_it_came_from(shell):
    shell.ok("recall", "--save", "The staging database is on port 5433", "--global")
    shell.ok("recall", "--save", "回答先给结论，再讲理由", "--global")
    shell.ok("work")
    assert "5433" in json.dumps(hook(shell, "SessionStart", source="startup"))
    assert "5433" not in json.dumps(hook(shell, "UserPromptSubmit", prompt="which port has the staging database?"))
    assert "5433" in json.dumps(hook(shell, "SessionStart", source="compact")), "a compacted session is told again"
    told = shell.json("why")
    assert told["session"] == KEY and [record["event"] for record in told["told"]] == ["brief", "again"]
    assert len(told["told"][0]["items"]) == 2
    text = shell.ok("why", SESSION[:8])
    assert "The staging database is on port 5433" in text and "回答先给结论" in text
    assert ("钩子" in text, "hook" in text) == ((True, False) if "简报" in text else (False, True))
    assert text == shell.ok("why", KEY) == shell.ok("why")


def test_why_says_which_words_a_message_shares(shell):
    hook(shell, "SessionStart", source="startup")
    shell.ok("recall", "--save", "The staging database is on port 5433", "--global")
    shell.ok("work")
    assert "5433" in json.dumps(hook(shell, "UserPromptSubmit", prompt="which port has the staging database?"))
    assert hook(shell, "UserPromptSubmit", prompt="thanks 谢谢") == {}
    told = shell.json("why")["told"]
    assert [record["event"] for record in told] == ["brief", "prompt"] and told[0]["items"] == []
    assert {"port", "staging"} <= set(told[1]["items"][0]["matched"])
    assert "staging" in shell.ok("why")


def test_forgetting_forgets_what_was_told(shell):
    shell.ok("recall", "--save", "The staging database is on port 5433", "--global")
    shell.ok("work")
    hook(shell, "SessionStart", source="startup")
    shell.ok("forget", "staging", "--yes")
    assert shell.mem("why").code != 0
    assert not any(b"5433" in path.read_bytes() for path in (shell.data / "run").rglob("*") if path.is_file())


def test_why_of_nothing(shell):
    assert shell.mem("why").code == 4 == shell.mem("why", "claude-code:none").code


def test_a_pure_session_is_told_nothing_and_leaves_no_word(shell):
    shell.ok("recall", "--save", "The staging database is on port 5433", "--global")
    shell.ok("work")
    transcript(shell)
    before = shell.json("sessions")["sessions"]
    pure = {"CATMEM_PURE": "1"}
    start = hook(shell, "SessionStart", pure, source="startup")
    assert set(start) == {"systemMessage"} and KEY in start["systemMessage"]
    assert hook(shell, "UserPromptSubmit", pure, prompt="Remember: the secret garden is 秘密花园") == {}
    assert hook(shell, "Stop", pure, last_assistant_message="ok") == {}
    # Resumed by an assistant that nobody asked for it: it stays what it was.
    assert hook(shell, "UserPromptSubmit", prompt="the secret garden, port 5433?") == {}
    hook(shell, "SessionEnd", reason="other")
    shell.ok("work")
    assert shell.json("sessions")["sessions"] == before
    assert not any(b"garden" in path.read_bytes() for path in shell.data.rglob("*") if path.is_file())


def test_a_pure_session_is_kept_when_its_user_says_so(shell):
    transcript(shell)
    hook(shell, "SessionStart", {"CATMEM_PURE": "1"}, source="startup")
    report = shell.json("import", "../transcript.jsonl")
    assert (report["messages_new"], report["pure"]) == (0, 1)
    assert "mem sessions keep" in shell.ok("import", "../transcript.jsonl")
    assert shell.json("sessions", "keep", KEY)["messages_new"] == 2
    assert "秘密花园" in shell.ok("replay", KEY)
    assert shell.mem("sessions", "keep", KEY).code == 4
