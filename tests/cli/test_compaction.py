"""A session that outgrew its file, and an old one: the commands show no difference, wherever the text lies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.cli.shell import Shell

SECRET = {"en": "zanzibarctl", "zh": "桃花潭水"}
FIRST = {"en": "Remember: always deploy with zanzibarctl.", "zh": "记住：部署一律用桃花潭水。"}


@pytest.fixture(params=["en", "zh"])
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def shell(shell_in: Callable[[str], Shell], language: str) -> Shell:
    shell = shell_in(language)
    shell.ok("config", "set", "max_messages", "20")
    said: list[Any] = [FIRST[language]]
    for number in range(29):
        said += [("assistant", f"Answer 答 {number}."), f"Question 问 {number} about the ferry timetable?"]
    shell.talk("long", *said, ("assistant", "Done."))
    shell.talk("old", "we moved to Postgres 用了新库", ("assistant", "OK."), day="2026-03-01")
    shell.ok("import", "long.jsonl", "old.jsonl")
    return shell


def archived(shell: Shell) -> dict[str, bytes]:
    found = (shell.data / "messages").glob("*/archive/*.jsonl.zst")
    return {path.name: b"".join(_frames(path)) for path in found}


def _frames(path: Path) -> list[bytes]:
    with zstandard.ZstdDecompressor().stream_reader(path.read_bytes(), read_across_frames=True) as reader:
        return [reader.read()]


def seen(shell: Shell) -> dict[str, Any]:
    shown = {key: shell.json("sessions", "show", key)["messages"] for key in ("long", "old")}
    sessions = shell.json("sessions")["sessions"]
    export = shell.json("export", "--messages")["sessions"]
    for session in [*sessions, *export]:
        session.pop("last_consolidated")
    return {"shown": shown, "sessions": sessions, "export": export, "found": passages(shell, "ferry timetable")}


def passages(shell: Shell, words: str) -> list[Any]:
    items = shell.json("recall", words, "--project", "shop", "--limit", "50")["items"]
    return sorted(item["id"] for item in items if item["type"] == "passage")


def test_every_command_reads_what_was_archived(shell: Shell) -> None:
    shell.ok("config", "set", "archive_raw_after_days", "0")
    shell.ok("config", "set", "max_messages", "5000")
    assert shell.json("work")["compacted"] == 0
    before = seen(shell)
    shell.ok("config", "set", "archive_raw_after_days", "30")
    shell.ok("config", "set", "max_messages", "20")
    assert shell.json("work")["compacted"] == 2
    assert len(archived(shell)) == 2 and seen(shell) == before
    assert shell.json("work") == {"distilled": 0, "dreamed": 0, "compacted": 0, "failed": 0, "pending": 0}
    (shell.data / "memories.db").unlink()
    assert shell.mem("doctor", "--repair").code == 0 and seen(shell) == before
    assert shell.json("doctor") == {"findings": [], "repaired": []}
    again = shell.json("import", "long.jsonl", "old.jsonl")
    assert again["messages_new"] == 0 and seen(shell) == before


def test_an_archived_session_goes_on(shell: Shell, language: str) -> None:
    shell.ok("work")
    shell.talk("more", "and the night ferry 夜班船?", session="old", day="2026-07-01")
    assert shell.json("import", "more.jsonl")["messages_new"] == 1
    assert [m["id"] for m in shell.json("sessions", "show", "old")["messages"]] == [1, 2, 3]


def test_a_range_that_was_compacted_has_its_digest(shell: Shell, language: str) -> None:
    shell.ok("work")
    (digests,) = (shell.data / "projects").glob("*/memory/history.jsonl")
    assert '"session":"long","first_id":1,' in digests.read_text("utf-8")


def test_forget_with_purge_reaches_into_the_archive(shell: Shell, language: str) -> None:
    shell.ok("work")
    assert any(SECRET[language].encode() in text for text in archived(shell).values())
    word = "zanzibarctl" if language == "en" else "桃花潭水"
    shell.ok("forget", word, "--purge", "--yes")
    assert all(SECRET[language].encode() not in text for text in archived(shell).values())
    for path in shell.data.rglob("*"):
        if path.is_file():
            assert SECRET[language].encode() not in path.read_bytes(), path
    assert len(shell.json("sessions", "show", "long")["messages"]) == 60
    assert shell.mem("doctor").code == 0
