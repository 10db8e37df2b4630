"""`mem gc`: only what nobody needs goes, and it says what came back."""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from tests.cli.shell import NOW, Shell

LONG_AGO = (NOW - timedelta(days=100)).timestamp()


@pytest.fixture(params=["en", "zh"])
def littered(request, shell_in) -> Shell:
    shell = shell_in(request.param)
    shell.talk("monday", "Remember: port 5432.", "记住：端口 8080。")
    shell.talk("gone", "hello")
    shell.ok("import", "monday.jsonl", "gone.jsonl")
    shell.ok("work")
    (shell.data / "messages" / "shop" / "gone.jsonl").unlink()
    for name, age in (
        ("run/told/old.jsonl", LONG_AGO),
        ("run/told/new.jsonl", NOW.timestamp()),
        ("ledger/.x.jsonl.1.abc.tmp", LONG_AGO),
        ("run/.fresh.tmp", NOW.timestamp()),
        ("quarantine/shop/monday.jsonl", LONG_AGO),
    ):
        path = shell.data / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 1000)
        os.utime(path, (age, age))
    return shell


def files(shell: Shell) -> set[str]:
    here = {str(path.relative_to(shell.data)) for path in shell.data.rglob("*") if path.is_file()}
    return {name for name in here if not name.startswith("search/") and "memories.db-" not in name}


def test_what_goes_and_what_stays(littered):
    before = files(littered)
    planned = littered.json("gc", "--dry-run")
    assert files(littered) == before and planned["dry_run"] is True
    done = littered.json("gc")
    assert {item["what"]: item["count"] for item in done["items"]} == {"briefs": 1, "temporaries": 1, "locks": 1}
    assert done["freed"] == planned["freed"] == 2000 and done["items"] == planned["items"]
    assert before - files(littered) == {
        "run/told/old.jsonl", "ledger/.x.jsonl.1.abc.tmp", "run/locks/shop/gone.lock",
    }  # fmt: skip
    again = littered.json("gc")
    assert (again["freed"], again["items"]) == (0, [])
    assert littered.ok("gc") and littered.json("recall", "port", "--project", "shop")["items"]


def test_the_quarantine_goes_on_request_and_after_a_yes(littered):
    kept = littered.data / "quarantine" / "shop" / "monday.jsonl"
    assert littered.json("gc", "--quarantine", "200", "--yes")["freed"] == 2000 and kept.exists(), "not old enough"
    assert littered.mem("gc", "--quarantine", "30").code == 12 and kept.exists()
    assert littered.mem("gc", "--quarantine", "30", typed="n\n").code == 12 and kept.exists()
    assert littered.json("gc", "--quarantine", "30", "--dry-run")["freed"] == 1000 and kept.exists()
    assert littered.mem("gc", "--quarantine", "30", typed="是\n").code == 0 and not kept.exists()


def test_nothing_is_made_by_looking(shell: Shell) -> None:
    assert shell.json("gc") == {"dry_run": False, "freed": 0, "bytes": 0, "items": []}
    assert not shell.data.exists()
