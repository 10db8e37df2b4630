from __future__ import annotations

from pathlib import Path

import pytest

from tests.clients.reading import Store, chunks, format_of, messages, reasons, told, written

NAME = ".aider.chat.history.md"
HEAD = "\n# aider chat started at 2026-01-02 03:04:05\n\n"


def test_who_speaks_is_told_by_prefix_and_by_the_blanks_at_line_ends(tmp_path: Path) -> None:
    path = written(
        tmp_path / NAME,
        HEAD + "> Aider v0.1  \n> Repo-map: off  \n\n#### 泡茶  \n####   \n#### in the pot  \n\n"
        "Do this:\n\n#### Step 1\n\n> as the poet says\n\n# Title\n\n> Applied edit to tea.py  \n\n#### /undo  \n",
    )
    assert format_of(path) == "aider"
    assert [(m.role, m.kind, m.content) for m in messages("aider", path)] == [
        ("system", "notice", "Aider v0.1\nRepo-map: off"),
        ("user", "", "泡茶\n\nin the pot"),
        ("assistant", "", "Do this:\n\n#### Step 1\n\n> as the poet says\n\n# Title"),
        ("system", "notice", "Applied edit to tea.py"),
        ("system", "command", "/undo"),
    ]


def test_output_of_several_lines_is_the_programs(tmp_path: Path) -> None:
    path = written(tmp_path / NAME, HEAD + "#### /test  \n\n> ===\nplatform\n\n2 failed  \n\n#### fix it  \n\nDone.\n")
    assert told("aider", path)[1:] == [
        ("system", "===\nplatform\n\n2 failed"),
        ("user", "fix it"),
        ("assistant", "Done."),
    ]


@pytest.mark.parametrize("zone", ["Asia/Shanghai", "America/New_York"])
def test_times_are_local_and_told_to_be_uncertain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    import time

    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        path = written(tmp_path / NAME, HEAD + "#### hi  \n\nHello.\n")
        at = messages("aider", path)[0].timestamp
    finally:
        monkeypatch.undo()
        time.tzset()
    assert at == {"Asia/Shanghai": "2026-01-01T19:04:05.000Z", "America/New_York": "2026-01-02T08:04:05.000Z"}[zone]
    assert [(line, "without a zone" in reason) for line, reason in reasons("aider", path)] == [(2, True)]


def test_each_start_is_a_session_also_in_the_same_second_and_one_without_talk_is_none(tmp_path: Path) -> None:
    quiet = "\n# aider chat started at 2026-01-03 00:00:00\n\n> Aider v0.1  \n"
    path = written(tmp_path / NAME, HEAD + "#### one  \n" + quiet + HEAD + "#### one  \n")
    assert [chunk.session for chunk in chunks("aider", path)] == [
        "aider:2026-01-02T03:04:05",
        "aider:2026-01-02T03:04:05-2",
    ]
    assert chunks("aider", path)[0].cwd == str(tmp_path)
    store = Store(tmp_path)
    assert store.twice(path).messages_new == 2
    path.write_text(path.read_text() + "\nAnd an answer.\n")
    assert store.once(path).messages_new == 1


def test_where_an_editor_stripped_the_blanks_the_doubt_is_told(tmp_path: Path) -> None:
    path = written(tmp_path / NAME, "#### hello\n\n> note\n\n#### 再见\n")
    assert told("aider", path) == [("user", "hello"), ("system", "note"), ("user", "再见")]
    assert any("look" in reason and "(2)" in reason for _, reason in reasons("aider", path))


def test_bytes_that_are_no_text_and_windows_line_ends(tmp_path: Path) -> None:
    path = written(tmp_path / NAME, (HEAD + "#### caf\xe9  \n\nYes.\n").encode("latin-1").replace(b"\n", b"\r\n"))
    assert told("aider", path) == [("user", "caf\ufffd"), ("assistant", "Yes.")]


def test_other_markdown_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path / "README.md", "# Tea\n\n#### Green\n")
    assert Store(tmp_path).once(tmp_path).record()["problems"] == []
