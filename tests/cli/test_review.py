"""`mem review` through the program: what is new once, all of it with `--all`, each in the documented shape."""

from __future__ import annotations

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
    sides = {"id", "text", "kind", "scope", "project", "by", "valid_from", "valid_to", "evidence"}
    assert set(conflict["won"]) == set(conflict["lost"]) == sides
    (said,) = conflict["lost"]["evidence"]
    assert (said["session"], said["message_id"]) == ("one", 1) and "5432" in said["quote"]
    (near,) = found["promotions"]
    assert (near["joined"], near["sessions"], near["needed"]) == (False, 1, 2)


def test_what_was_forgotten_is_no_longer_told(shell: Shell) -> None:
    (conflict,) = shell.json("review")["conflicts"]
    shell.ok("forget", conflict["lost"]["id"], "--yes")
    assert shell.json("review", "--all")["conflicts"] == []
