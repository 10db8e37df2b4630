"""`mem distil`, `mem review` and the model in `mem status`, as a person meets them, in both languages."""

from __future__ import annotations

import json

import pytest

from catmem.distil.model.record import ParkedAnswer, Record
from catmem.domain.session import SessionRef
from catmem.settings.paths import Paths
from tests.cli.shell import Shell
from tests.llm.fake_server import Reply, serving

TALK = [
    ("user", "we use pnpm in this repository, never npm"),
    ("assistant", "Noted."),
    ("user", "just this once, skip the tests"),
    ("assistant", "Skipped."),
]


@pytest.fixture(params=["en", "zh"])
def shell(request, shell_in) -> Shell:
    shell = shell_in(request.param)
    shell.ok("import", shell.talk("talk", *TALK, session="chat:1"))
    return shell


def chinese(shell: Shell) -> bool:
    return shell.environment["LANG"].startswith("zh")


def test_a_session_is_distilled_again_and_explained(shell: Shell) -> None:
    value = shell.json("distil", "chat:1", "--explain")
    assert value["with"] == "rules" and [m["text"] for m in value["memories"]] == [
        "we use pnpm in this repository, never npm"
    ]
    assert any("skip the tests" in it["text"] and it["why"] for it in value["refused"])
    again = shell.json("distil", "chat:1")
    assert [m["id"] for m in again["memories"]] == [m["id"] for m in value["memories"]]
    said = shell.ok("distil", "chat:1", "--explain")
    assert ("拒绝" if chinese(shell) else "refused") in said and "pnpm" in said
    assert ("评分" if chinese(shell) else "score") in said and ("规则 one-off-en" if chinese(shell) else "rule") in said


def test_a_session_that_is_not_there(shell: Shell) -> None:
    ended = shell.mem("distil", "nowhere")
    assert ended.code == 4 and "mem sessions" in ended.err


def test_what_a_model_did_wrong_is_counted_and_shown(shell: Shell) -> None:
    assert ("没有新的" if chinese(shell) else "nothing new") in shell.ok("review", "--all")
    record = Record(Paths(shell.data))
    raw = "I think you like pnpm and short answers."
    record.count("prose")
    record.park(ParkedAnswer("shop", "chat:1", 3, 4, "2026-06-30T10:00:00Z", "prose", "it is no JSON", raw))
    record.miss(SessionRef("shop", "chat:1"))
    assert shell.json("status")["distilling"] == {"faults": {"prose": 1}, "parked": 1, "missed": 1}
    status = shell.ok("status")
    assert (
        ("答成了文字 1" if chinese(shell) else "prose 1") in status
        and "mem review" in status
        and "mem work --retry" in status
    )
    shown = shell.ok("review", "--drop")
    assert raw in shown and "chat:1 #3–4" in shown
    assert ("答成了文字（不是 JSON）" if chinese(shell) else "prose (it is no JSON)") in shown
    missed = [{"project": "shop", "session": "chat:1"}]
    assert shell.json("review") == {"conflicts": [], "promotions": [], "parked": [], "missed": missed}


@pytest.mark.parametrize(
    ("reply", "en", "zh"),
    [
        (Reply(pieces=("I think you like pnpm, and short answers.",), whole=True), "could not be used", "无法使用"),
        (Reply(status=401, body="{}"), "wants a key", "需要密钥"),
    ],
)
def test_how_the_model_failed_is_told_beside_what_the_rules_found(shell: Shell, reply: Reply, en: str, zh: str) -> None:
    with serving(reply) as server:
        row = {"name": "small", "api": "openai", "base_url": f"{server.url}/v1", "model": "m"}
        shell.ok("config", "set", "models", json.dumps([row]))
        told = shell.ok("distil", "chat:1")
    assert "pnpm" in told and (zh if chinese(shell) else en) in told


def test_a_model_that_refuses_its_key_is_a_finding_with_the_remedy(shell: Shell) -> None:
    row = '[{"api": "openai", "base_url": "http://127.0.0.1:9/v1", "model": "m", "api_key_env": "NO_KEY"}]'
    shell.ok("config", "set", "models", row)
    shell.environment["NO_KEY"] = "dummy"  # The workers that the hooks start find something else.
    record = Record(Paths(shell.data))
    record.trouble("401", "the key was refused; check NO_KEY", "密钥被拒绝；请检查 NO_KEY", "2026-06-30T10:00:00Z")
    findings = shell.json("status")["findings"]
    assert [f["message"] for f in findings if f["name"] == "models" and "check NO_KEY" in f["message"]]
    assert shell.mem("doctor").code != 0
    start = {"session_id": "a", "cwd": str(shell.folder), "source": "startup", "transcript_path": ""}
    told = json.loads(shell.ok("hook", "claude-code", "SessionStart", typed=json.dumps(start)))
    assert "NO_KEY" in told["systemMessage"] and told["systemMessage"].count("\n") <= 1, "one line with the remedy"
    record.recovered()
    assert "NO_KEY" not in shell.ok(
        "hook", "claude-code", "SessionStart", typed=json.dumps(start | {"session_id": "b"})
    )
    assert not any("NO_KEY" in f["message"] for f in shell.json("status")["findings"])
