"""`mem revert` and `mem diff` through the program, in both languages."""

from __future__ import annotations

import pytest

from tests.cli.shell import Shell


@pytest.fixture(params=["en", "zh"])
def shell(request, shell_in) -> Shell:
    shell = shell_in(request.param)
    tell(shell, "one", "The staging database is on port 5432.", "Remember: I always use npm.", day="2026-06-01")
    tell(shell, "two", "From now on the staging database is on port 5433.", day="2026-06-03")
    tell(
        shell,
        "three",
        "记住：以后我都用 pnpm，不用 npm。",
        "Remember: from now on I always use pnpm.",
        day="2026-06-04",
    )
    return shell


def tell(shell: Shell, name: str, *said: str, day: str) -> None:
    shell.ok("import", shell.talk(name, *said, day=day))
    shell.ok("work")


def chinese(shell: Shell) -> bool:
    return shell.environment["LANG"].startswith("zh")


def id_of(shell: Shell, words: str) -> str:
    (id,) = {entry["id"] for entry in shell.json("export")["memories"] if words in entry["text"]}
    return str(id)


def in_force(shell: Shell) -> set[str]:
    return {entry["text"] for entry in shell.json("export")["memories"] if entry["status"] == "live"}


def test_it_shows_what_changes_and_asks(shell: Shell) -> None:
    before, id = in_force(shell), id_of(shell, "5432")
    told = shell.mem("revert", id, typed="n\n")
    assert told.code == 12 and "+ " + id in told.out and "5433" in told.out and in_force(shell) == before
    assert "5433" in shell.ok("revert", id, "--dry-run") and in_force(shell) == before
    done = shell.ok("revert", id, typed="是\n")
    assert ("已恢复" if chinese(shell) else "restored") in done
    texts = in_force(shell)
    assert any("5432" in text for text in texts) and not any("5433" in text for text in texts)
    page = (shell.data / "projects" / "shop" / "memory" / "MEMORY.md").read_text("utf-8")
    assert "5432" in page and "5433" not in page
    (first, *_) = shell.json("recall", "staging database", "--project", "shop")["items"]
    assert "5432" in first["text"]


def test_its_json_and_that_twice_changes_nothing(shell: Shell) -> None:
    id, other = id_of(shell, "5432"), id_of(shell, "5433")
    done = shell.json("revert", id, "--yes")
    assert [it["id"] for it in done["restored"]] == [id] and [it["id"] for it in done["retired"]] == [other]
    assert set(done["restored"][0]) == {"id", "text", "kind", "scope", "project"}
    lines = shell.json("log")["changes"]
    assert (lines[0]["op"], lines[0]["by"]) == ("restore", "user")
    assert shell.json("revert", id, "--yes") == {"restored": [], "retired": []}
    assert shell.json("log")["changes"] == lines


def test_the_same_sessions_distilled_and_imported_again_do_not_undo_it(shell: Shell) -> None:
    shell.ok("export", shell.folder / "before.json")
    shell.ok("revert", id_of(shell, "5432"), "--yes")
    wanted = in_force(shell)
    for session in ("one", "two", "three"):
        shell.ok("distil", session)
    shell.ok("import", shell.folder / "before.json")
    shell.ok("work")
    shell.ok("doctor", "--repair")
    tell(shell, "four", "So the staging database is on port 5433 from now on.", day="2026-06-09")
    assert wanted <= in_force(shell)


def test_both_may_stand(shell: Shell) -> None:
    assert shell.json("revert", id_of(shell, "5432"), "--beside", "--yes")["retired"] == []
    assert sum("543" in text for text in in_force(shell)) == 2


def test_a_revision_is_named_as_it_is_shown(shell: Shell) -> None:
    id = id_of(shell, "I always use npm")
    shown = shell.ok("show", id)
    assert f"mem revert {id} v1" in shown
    shell.ok("revert", id, "v1", "--yes")
    assert "Remember: I always use npm." in in_force(shell) or "I always use npm." in in_force(shell)
    for wrong, code in (("v99", 4), ("first", 2), ("0", 2)):
        assert shell.mem("revert", id, wrong, "--yes").code == code


def test_what_is_forgotten_cannot_come_back(shell: Shell) -> None:
    id = id_of(shell, "5432")
    shell.ok("forget", id, "--yes")
    refused = shell.mem("revert", id, "--yes")
    assert refused.code == 2 and ("已忘记" if chinese(shell) else "words are gone") in refused.err
    assert "--save" in refused.err


def test_a_hand_edit_is_taken_back(shell: Shell) -> None:
    page = shell.data / "projects" / "shop" / "memory" / "MEMORY.md"
    page.write_text(page.read_text("utf-8").replace("5433", "6000"), "utf-8")
    shell.ok("revert", id_of(shell, "5433"), "--yes")
    assert "5433" in page.read_text("utf-8") and "6000" not in page.read_text("utf-8")


def test_the_differences_of_one_memory(shell: Shell) -> None:
    id, other = id_of(shell, "5432"), id_of(shell, "5433")
    told = shell.json("diff", id)["changes"]
    assert [change["what"] for change in told] == ["added", "replaced"]
    assert set(told[1]) == {"what", "id", "project", "at", "by", "why", "old", "new"}
    assert "5432" in told[1]["old"]["text"] and told[1]["new"]["id"] == other
    shell.ok("revert", id, "--yes")
    assert [change["what"] for change in shell.json("diff", id)["changes"]] == ["added", "replaced", "restored"]
    text = shell.ok("diff", id)
    assert "  - " in text and ("更替" if chinese(shell) else "replaced") in text


def test_the_differences_since_a_day_and_of_the_last_changes(shell: Shell) -> None:
    shell.ok("revert", id_of(shell, "5432"), "--yes")
    (last,) = shell.json("diff", "--last", "1")["changes"]
    assert (last["what"], last["by"]) == ("replaced", "user")
    assert "5433" in last["old"]["text"] and "5432" in last["new"]["text"]
    assert shell.json("diff", "--since", "2026-07-02")["changes"] == []
    everything = shell.json("diff", "--since", "2026-06-30")["changes"]
    assert {change["what"] for change in everything} == {"added"} and "npm" not in str(everything[0]["old"])
    assert shell.json("diff", "--project", "shop")["changes"] == shell.json("diff")["changes"]
    assert shell.json("diff", "--project", "elsewhere")["changes"] == []
    assert shell.mem("diff", "--since", "2026-06-30", "--last", "3").code == 2
    assert ("没有变化" if chinese(shell) else "nothing") in shell.ok("diff", "--since", "2027-01-01")


def test_what_was_forgotten_is_told_without_its_words(shell: Shell) -> None:
    id = id_of(shell, "5433")
    shell.ok("forget", id, "--yes")
    (gone,) = shell.json("diff", "--last", "1")["changes"]
    assert (gone["what"], gone["id"], gone["old"], gone["new"]) == ("forgotten", id, None, None)
    assert "5433" not in shell.ok("diff") and "5433" not in shell.ok("diff", id)


def test_a_preference_that_joined_the_profile_is_told_and_taken_back(shell: Shell) -> None:
    tell(shell, "five", "I prefer short answers.", day="2026-06-05")
    tell(shell, "six", "I prefer short answers.", day="2026-06-06")
    (risen,) = [change for change in shell.json("diff", "--last", "1")["changes"] if change["what"] == "promoted"]
    assert (risen["old"]["scope"], risen["new"]["scope"]) == ("project", "global")
    assert f"mem revert {risen['id']}" in shell.ok("review")
    (back,) = shell.json("revert", risen["id"], "--yes")["restored"]
    assert back["scope"] == "project"
    tell(shell, "seven", "I prefer short answers.", day="2026-06-07")
    (entry,) = [e for e in shell.json("export")["memories"] if e["id"] == risen["id"] and e["status"] == "live"]
    assert entry["scope"] == "project" and entry["confirmations"] == 3
    lines = len(shell.json("log")["changes"])
    shell.ok("work")
    assert len(shell.json("log")["changes"]) == lines
