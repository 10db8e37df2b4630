"""`mem review` through the program: what is new once, all of it with `--all`, each in the documented shape."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cli.shell import Shell


@pytest.fixture(params=["en", "zh"])
def shell(request, shell_in) -> Shell:
    shell = shell_in(request.param)
    tell(shell, "one", "The staging database is on port 5432.", day="2026-06-01")
    tell(shell, "two", "记住：测试环境的端口是 8080。", "I prefer short answers.", day="2026-06-02")
    tell(shell, "three", "From now on the staging database is on port 5433.", day="2026-06-03")
    return shell


def tell(shell: Shell, name: str, *said: str, day: str) -> None:
    shell.ok("import", shell.talk(name, *said, day=day))
    shell.ok("work")


def corrected(template: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """The entries of a memory that one session said and another corrected."""
    said = {**template, "id": f"m{number:012x}", "subject": f"port {number}"}
    earlier, later = ([{**e, "session": name} for e in template["evidence"]] for name in ("a", "b"))
    first, second = f"port {number} is open", f"port {number} is closed"
    end = "2026-06-05T00:00:00.000Z"
    return [
        {**said, "text": first, "object": "open", "status": "superseded", "valid_to": end, "evidence": earlier},
        {**said, "text": second, "object": "closed", "version": 2, "valid_from": end, "evidence": later},
    ]


def test_what_was_decided_is_shown_once_and_all_of_it_on_demand(shell: Shell) -> None:
    first = shell.ok("review")
    assert "5433" in first and "5432" in first and "short answers" in first and "MEMORY.md" in first
    again = shell.ok("review")
    assert "5433" not in again and "--all" in again
    assert shell.ok("review", "--all") == first
    tell(shell, "four", "I prefer short answers.", day="2026-06-04")
    news = shell.ok("review")
    assert "short answers" in news and "5433" not in news


def test_its_json(shell: Shell) -> None:
    found = shell.json("review", "--all")
    (conflict,) = found["conflicts"]
    assert conflict["outcome"] == "replaced" and "5433" in conflict["won"]["text"]
    sides = {"id", "version", "text", "kind", "scope", "project", "by", "valid_from", "valid_to", "evidence"}
    assert set(conflict["won"]) == set(conflict["lost"]) == sides
    (said,) = conflict["lost"]["evidence"]
    assert (said["session"], said["message_id"]) == ("one", 1) and "5432" in said["quote"]
    (near,) = found["promotions"]
    assert (near["joined"], near["sessions"], near["needed"]) == (False, 1, 2)


def test_what_was_forgotten_is_no_longer_told(shell: Shell) -> None:
    (conflict,) = shell.json("review")["conflicts"]
    shell.ok("forget", conflict["lost"]["id"], "--yes")
    assert shell.json("review", "--all")["conflicts"] == []


def test_what_a_script_reads_stays_to_be_looked_over(shell: Shell) -> None:
    read = shell.json("review")
    assert read["conflicts"] and shell.json("review") == read
    assert "5433" in shell.ok("review")
    assert shell.json("review")["conflicts"] == []


def test_a_script_may_say_that_all_is_looked_over(shell: Shell) -> None:
    assert shell.json("review", "--done")["conflicts"]
    assert "--all" in shell.ok("review") and shell.json("review")["conflicts"] == []


def test_only_what_was_shown_counts_as_seen(shell: Shell) -> None:
    """Of more than one look shows, the next look has the older ones."""
    shell.ok("review", "--done")
    export = shell.json("export")
    (template,) = [e for e in export["memories"] if "8080" in e["text"]]
    shell.write("many.json", json.dumps({**export, "memories": [e for n in range(35) for e in corrected(template, n)]}))
    shell.ok("import", shell.folder / "many.json")
    waiting = {conflict["lost"]["id"] for conflict in shell.json("review")["conflicts"]}
    assert len(waiting) > 30
    first, second = shell.ok("review"), shell.ok("review")
    assert "--done" in first and "--done" not in second
    seen = [{id for id in waiting if id in shown} for shown in (first, second)]
    assert len(seen[0]) == 30 and seen[0] | seen[1] == waiting and not seen[0] & seen[1]


def test_what_lost_is_brought_back_by_the_command_that_is_named(shell: Shell) -> None:
    (conflict,) = shell.json("review")["conflicts"]
    assert "mem revert" in shell.ok("review")
    shell.ok("revert", conflict["lost"]["id"], "--yes")
    assert shell.json("review", "--all")["conflicts"] == []
