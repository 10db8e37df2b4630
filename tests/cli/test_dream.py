"""`mem dream`: a model tidies, and the user sees what was done, what was refused and why, in both languages."""

from __future__ import annotations

import json

import pytest

from tests.cli.shell import Shell
from tests.llm.fake_server import Reply, serving

NOTHING = {"merge": [], "replace": [], "retire": [], "promote": []}


@pytest.fixture(params=["en", "zh"])
def shell(request, shell_in) -> Shell:
    """With two sessions that say one thing in two languages, which the rules cannot know."""
    shell = shell_in(request.param)
    shell.talk("monday", "The deploy script lives in scripts/deploy.sh.")
    shell.talk("tuesday", "部署脚本放在 scripts/deploy.sh。")
    shell.ok("import", "monday.jsonl", "tuesday.jsonl")
    shell.ok("work")
    return shell


def configure(shell: Shell, url: str) -> None:
    row = {"name": "small", "api": "openai", "base_url": f"{url}/v1", "model": "m"}
    shell.ok("config", "set", "models", json.dumps([row]))


def answer(**operations) -> Reply:
    return Reply(pieces=(json.dumps(NOTHING | operations),), whole=True)


def live(shell: Shell) -> list[str]:
    return sorted(m["text"] for m in shell.json("export")["memories"] if m["status"] == "live")


def test_without_a_model_it_says_so(shell):
    done = shell.mem("dream")
    assert done.code == 4 and "mem config set models" in done.err


@pytest.mark.parametrize(
    ("reply", "en", "zh"),
    [
        (Reply(pieces=("I would rather not.",), whole=True), "was not JSON", "不是 JSON"),
        (Reply(pieces=("{}",), whole=True), "was without merge", "缺少 merge"),
        (Reply(status=401, body="{}"), "wants a key", "需要密钥"),
    ],
)
def test_why_nothing_came_of_it_is_told_in_the_users_language(shell, reply: Reply, en: str, zh: str):
    with serving(reply) as server:
        configure(shell, server.url)
        told = shell.ok("dream")
        (mine, other) = (zh, en) if "整理" in shell.ok("dream", "--help") else (en, zh)
        assert mine in told and other not in told
        status = shell.ok("status")
        assert mine in status and other not in status


def test_what_was_done_and_what_was_refused(shell):
    before = live(shell)
    with serving(answer(merge=[{"same": [1, 2]}], promote=[{"memory": 1}])) as server:
        configure(shell, server.url)
        planned = shell.json("dream", "--dry-run")
        assert live(shell) == before
        text = shell.ok("dream")
    (project,) = [one for one in planned["projects"] if one["project"] == "shop"]
    assert [one["operation"] for one in project["done"]] == ["merge"] and len(project["refused"]) == 1
    assert len(live(shell)) == len(before) - 1 and "scripts/deploy.sh" in text
    page = (shell.data / "projects" / "shop" / "memory" / "MEMORY.md").read_text()
    assert page.count("deploy.sh") == 1
    with serving(answer()) as server:
        configure(shell, server.url)
        shell.ok("dream")
        assert server.requests == [], "nothing new is no question"


def test_a_dead_model_costs_nothing_and_shows(shell):
    before = live(shell)
    configure(shell, "http://127.0.0.1:9")
    shell.ok("work")
    assert live(shell) == before
    found = shell.mem("doctor", "--json")
    assert found.code == 1 and any(f["name"] == "dream" for f in found.json["findings"])


def test_what_a_dream_costs_is_booked_and_without_a_budget_nobody_is_asked(shell):
    with serving(answer()) as server:
        configure(shell, server.url)
        shell.ok("dream")
        asked = len(server.requests)
        booked = "".join(path.read_text() for path in shell.data.rglob("spend*.json"))
        assert asked and "small" in booked
        shell.ok("config", "set", "daily_token_budget", "0")
        assert shell.mem("dream").code == 4 and len(server.requests) == asked
