from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.clients.reading import Store, chunks, format_of, lines, messages, reasons, told, written


def database(path: Path, table: str = "cursorDiskKV", **values: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE IF NOT EXISTS {table} (key TEXT UNIQUE, value BLOB)")
    for name, value in values.items():
        data = value if isinstance(value, str | bytes) else json.dumps(value)
        connection.execute(f"INSERT INTO {table} VALUES (?, ?)", (name, data))
    connection.commit()
    connection.close()
    return path


def composer(*bubbles: Any, key: str = "c1", **fields: Any) -> dict[str, Any]:
    headers = [{"bubbleId": f"b{number}"} for number in range(len(bubbles))]
    values = {f"bubbleId:{key}:b{number}": bubble for number, bubble in enumerate(bubbles)}
    return {f"composerData:{key}": {"fullConversationHeadersOnly": headers, **fields}, **dict(reversed(values.items()))}


def test_bubbles_come_in_the_order_of_their_headers(tmp_path: Path) -> None:
    path = database(
        tmp_path / "state.vscdb",
        **composer(
            {"type": 1, "text": "泡茶", "timestamp": 1770000000000, "workspaceUris": ["file:///home/kim/my%20tea"]},
            {"type": 2, "text": "Boil.", "timestamp": 1770000001000},
            {
                "type": 2,
                "text": "",
                "createdAt": "2026-02-02T02:40:02Z",
                "toolFormerData": {"name": "read_file", "toolCallId": "t1", "rawArgs": "{}", "result": "steam"},
            },
            name="Tea",
            createdAt=1770000000000,
        ),
    )
    assert format_of(path) == "cursor"
    (chunk,) = chunks("cursor", path)
    assert (chunk.session, chunk.title, chunk.cwd) == ("cursor:c1", "Tea", "/home/kim/my tea")
    assert [(m.role, m.content) for m in chunk.messages] == [
        ("user", "泡茶"),
        ("assistant", "Boil."),
        ("assistant", ""),
        ("tool", "steam"),
    ]
    assert chunk.messages[0].timestamp == "2026-02-02T02:40:00.000Z"
    assert chunk.messages[3].tool_call_id == chunk.messages[2].tool_calls[0].id == "t1"
    before = path.read_bytes()
    assert Store(tmp_path).twice(path).messages_new == 4
    assert path.read_bytes() == before


def test_the_folder_of_a_composer_is_told_by_its_workspace(tmp_path: Path) -> None:
    user = tmp_path / "User"
    path = database(user / "globalStorage" / "state.vscdb", **composer({"type": 1, "text": "hello"}))
    beside = user / "workspaceStorage" / "abc"
    database(beside / "state.vscdb", "ItemTable", **{"composer.composerData": {"allComposers": [{"composerId": "c1"}]}})
    written(beside / "workspace.json", {"folder": "file:///home/kim/pot"})
    assert chunks("cursor", path)[0].cwd == "/home/kim/pot"


def test_older_tabs_and_inline_talks_are_read(tmp_path: Path) -> None:
    tab = {"tabId": "t1", "chatTitle": "Old", "bubbles": [{"type": "user", "text": "q"}, {"type": "ai", "text": "a"}]}
    old = {"conversation": [{"type": 1, "text": "inline"}]}
    path = database(tmp_path / "state.vscdb", **{"composerData:c9": old})
    database(path, "ItemTable", **{"workbench.panel.aichat.view.aichat.chatdata": {"tabs": [tab]}})
    assert told("cursor", path) == [("user", "inline"), ("user", "q"), ("assistant", "a")]


def test_a_broken_value_costs_itself(tmp_path: Path) -> None:
    values = composer({"type": 1, "text": "kept"}, {"type": 2, "text": "x"})
    values["bubbleId:c1:b1"] = "{broken"
    values["composerData:c2"] = "{broken"
    path = database(tmp_path / "state.vscdb", **values)
    assert told("cursor", path) == [("user", "kept")]
    found = [reason for _, reason in reasons("cursor", path)]
    assert [any(name in reason for reason in found) for name in ("bubbleId:c1:b1", "composerData:c2")] == [True, True]


def test_a_database_of_another_editor_has_no_sessions(tmp_path: Path) -> None:
    path = database(tmp_path / "state.vscdb", "ItemTable", theme="dark")
    report = Store(tmp_path).once(tmp_path)
    assert path.exists()
    assert report.record() == {"sessions": 0, "messages_new": 0, "messages_known": 0, "problems": []}


QUERY = "<attached_files>\na.py\n</attached_files>\n<user_query>\n你好\nassistant:\nis a word\n</user_query>"


def test_a_text_transcript_is_split_at_its_markers_but_not_inside_a_prompt(tmp_path: Path) -> None:
    path = written(tmp_path / "t.txt", f"user:\n{QUERY}\n\nassistant:\nHi.\n\nuser:\nplain\n")
    assert format_of(path) == "cursor"
    assert told("cursor", path) == [
        ("user", "你好\nassistant:\nis a word"),
        ("system", "<attached_files>\na.py\n</attached_files>"),
        ("assistant", "Hi."),
        ("user", "plain"),
    ]


def line(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(blocks)}}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def test_a_transcript_of_lines_has_calls_and_no_times(tmp_path: Path) -> None:
    talk = lines(
        line("user", text(f"{QUERY}")),
        line("assistant", text("I look."), {"type": "tool_use", "name": "Shell", "input": {"command": "ls"}}),
        line("user", text("<system_reminder>careful</system_reminder>\n继续")),
    )
    path = written(tmp_path / "t.jsonl", talk + '{"role":"user","mess')
    assert format_of(path) == "cursor"
    assert [role for role, _ in told("cursor", path)] == ["user", "system", "assistant", "user", "system"]
    assert told("cursor", path)[3] == ("user", "继续")
    call = messages("cursor", path)[2].tool_calls[0]
    assert (call.name, call.arguments) == ("Shell", '{"command": "ls"}')
    found = reasons("cursor", path)
    assert [number for number, reason in found if "incomplete" in reason] == [4]
    assert any("no time" in reason for _, reason in found)


def test_a_result_is_of_the_call_before_it_and_other_lines_are_passed(tmp_path: Path) -> None:
    result = {"type": "tool_result", "content": [{"type": "text", "text": "a.py"}]}
    talk = lines(
        line("user", text("ls")),
        line("assistant", {"type": "tool_use", "name": "Shell", "input": {}}),
        line("user", result),
        {"type": "turn_ended"},
        line("assistant", text("one file")),
    )
    path = written(tmp_path / "t.jsonl", talk)
    assert told("cursor", path) == [("user", "ls"), ("assistant", ""), ("tool", "a.py"), ("assistant", "one file")]
    _, call, answer, _ = messages("cursor", path)
    assert answer.tool_call_id == call.tool_calls[0].id


def test_a_transcript_that_grows_gives_only_what_it_gained(tmp_path: Path) -> None:
    store, path = Store(tmp_path), tmp_path / "t.jsonl"
    talk = [line("user", text("go on")), line("assistant", text("1")), line("user", text("go on"))]
    store.twice(written(path, lines(*talk)))
    assert store.once(written(path, lines(*talk, line("assistant", text("2"))))).messages_new == 1
    assert [words for _, words in store.live()["cursor:t"]] == ["go on", "1", "go on", "2"]


@pytest.mark.parametrize("first", ["database", "transcript"])
def test_a_talk_in_both_places_is_kept_once(tmp_path: Path, first: str) -> None:
    told_twice = [
        database(tmp_path / "state.vscdb", **composer({"type": 1, "text": "同样"}, {"type": 2, "text": "same"})),
        written(
            tmp_path / "c1.jsonl",
            lines(line("user", text("<user_query>\n同样\n</user_query>")), line("assistant", text("same"))),
        ),
    ]
    store = Store(tmp_path)
    store.once(*(told_twice if first == "database" else reversed(told_twice)))
    assert store.live()["cursor:c1"] == [("user", "同样"), ("assistant", "same")]


def test_lines_with_a_kind_and_a_time_are_read(tmp_path: Path) -> None:
    tool = {"tool_name": "Read", "tool_input": {"p": 1}, "tool_output": "out"}
    path = written(
        tmp_path / "t.jsonl",
        lines(
            {"type": "user", "timestamp": 1770000000000, "message": {"role": "user", "content": "why"}},
            {"type": "tool", "timestamp": 1770000001000, "message": tool},
        ),
    )
    assert told("cursor", path) == [("user", "why"), ("assistant", ""), ("tool", "out")]
    assert reasons("cursor", path) == []
