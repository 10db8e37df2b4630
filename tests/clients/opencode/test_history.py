from __future__ import annotations

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from catmem.capture.formats import files_of, format_of
from catmem.clients.opencode.history import READER
from catmem.clients.port import TranscriptChunk
from catmem.domain.errors import BadInput
from catmem.domain.message import Message

FOLDER = "/home/kim/kettle"
START = 1790000000000

Part = dict[str, Any]


def text(name: str, words: str, **fields: Any) -> Part:
    return {"id": name, "type": "text", "text": words, **fields}


def tool(name: str, kind: str, output: str = "", status: str = "completed", **state: Any) -> Part:
    state = {"status": status, "input": {"q": "茶"}, "output": output, "time": {"start": START, "end": START}, **state}
    return {"id": name, "type": "tool", "tool": kind, "callID": f"c-{name}", "state": state}


def message(name: str, role: str, second: int = 0, **info: Any) -> dict[str, Any]:
    return {"id": name, "role": role, "time": {"created": START + 1000 * second}, **info}


class Store:
    """A data directory of opencode."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = folder / "opencode.db"
        folder.mkdir(parents=True, exist_ok=True)

    def create(self) -> Store:
        with closing(sqlite3.connect(self.database)) as connection:
            connection.executescript(
                "PRAGMA journal_mode=WAL;"
                "CREATE TABLE project(id TEXT PRIMARY KEY, worktree TEXT);"
                "CREATE TABLE session(id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, title TEXT, time_created);"
                "CREATE TABLE message(id TEXT, session_id TEXT, time_created INTEGER, data TEXT);"
                "CREATE TABLE part(id TEXT, message_id TEXT, session_id TEXT, data TEXT);"
                "INSERT INTO project VALUES('p', '/home/kim/worktree');"
            )
        return self

    def session(self, name: str, parent: str | None = None, directory: str = FOLDER, title: str = "水壶") -> Store:
        return self._insert("session", name, "p", parent, directory, title, START)

    def says(self, session: str, info: dict[str, Any], *parts: Part | str) -> Store:
        data = {key: value for key, value in info.items() if key != "id"}
        self._insert("message", info["id"], session, info["time"]["created"], json.dumps(data))
        for number, part in enumerate(parts):
            spelled = part if isinstance(part, str) else json.dumps({k: v for k, v in part.items() if k != "id"})
            name = f"bad{number}" if isinstance(part, str) else part["id"]
            self._insert("part", name, info["id"], session, spelled)
        return self

    def file(self, session: str, info: dict[str, Any], *parts: Part, **more: Any) -> Path:
        """The same in the files of before; returns the session's."""
        storage = self.folder / "storage"
        path = storage / "session" / "p" / f"{session}.json"
        _write(path, {"id": session, "directory": FOLDER, "time": {"created": START}, **more})
        _write(storage / "message" / session / f"{info['id']}.json", info)
        for part in parts:
            _write(storage / "part" / info["id"] / f"{part['id']}.json", part)
        return path

    def _insert(self, table: str, *values: object) -> Store:
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.execute(f"INSERT INTO {table} VALUES({', '.join('?' * len(values))})", values)
        return self


def _write(path: Path, record: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "opencode")


def read(path: Path) -> list[TranscriptChunk]:
    assert format_of(path) == "opencode"
    return list(READER.chunks(path))


def messages(path: Path) -> list[Message]:
    return [message for chunk in read(path) for message in chunk.messages]


def told(path: Path) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages(path)]


def test_a_talk_in_the_database(store: Store) -> None:
    store.create().session("s1").says(
        "s1",
        message("m1", "user"),
        text("p1", "水壶几点响？"),
        text("p2", "Called the Read tool", synthetic=True),
        {"id": "p3", "type": "file", "mime": "image/png", "filename": "kettle.png", "url": "data:"},
    )
    reply = [text("p4", "At 7."), {"id": "p5", "type": "reasoning", "text": "hm"}, {"id": "p6", "type": "step-start"}]
    store.says("s1", message("m2", "assistant", 1, tokens={"input": 5, "output": 2}), *reply)
    (chunk,) = read(store.database)
    assert told(store.database) == [("user", "水壶几点响？\n[file: kettle.png]"), ("assistant", "At 7.")]
    assert (chunk.session, chunk.cwd, chunk.title) == ("opencode:s1", FOLDER, "水壶")
    assert [(m.uid, m.parent, m.timestamp) for m in chunk.messages] == [
        ("m1", "", "2026-09-21T14:13:20.000Z"),
        ("m2", "m1", "2026-09-21T14:13:21.000Z"),
    ]
    assert chunk.messages[1].usage == {"input_tokens": 5, "output_tokens": 2}


def test_calls_stand_between_the_texts(store: Store) -> None:
    parts = [
        text("p1", "Looking."),
        tool("p2", "ls", "a.py"),
        tool("p3", "bash", status="error", error="denied"),
        tool("p4", "ls", status="running"),
        tool("p5", "catmem_recall", "likes tea"),
        text("p6", "Found it."),
    ]
    store.create().session("s1").says("s1", message("m1", "assistant"), *parts)
    assert [(m.role, m.content, m.tool_call_id, m.uid) for m in messages(store.database)] == [
        ("assistant", "Looking.", "", "m1"),
        ("assistant", "", "", "p2"),
        ("tool", "a.py", "c-p2", "p2:result"),
        ("assistant", "", "", "p3"),
        ("tool", "denied", "c-p3", "p3:result"),
        ("assistant", "", "", "p4"),
        ("assistant", "", "", "p5"),
        ("tool", "[recalled memories, not kept here]", "c-p5", "p5:result"),
        ("assistant", "Found it.", "", "p6"),
    ]
    assert [json.loads(c.arguments) for m in messages(store.database) for c in m.tool_calls] == [{"q": "茶"}] * 4


def test_what_a_person_did_not_type(store: Store) -> None:
    store.create().session("s1").session("s2-child", parent="s1")
    store.says("s1", message("m1", "user"), {"id": "p1", "type": "compaction", "auto": True})
    store.says("s1", message("m2", "assistant", 1, summary=True), text("p2", "They made tea."))
    store.says("s1", message("m3", "user", 2), text("p3", "Continue", synthetic=True))
    store.says("s1", message("m4", "user", 3), {"id": "p4", "type": "subtask", "prompt": "review it"})
    store.says("s2-child", message("m5", "user", 4), text("p5", "find it"))
    store.says("s2-child", message("m6", "assistant", 5), tool("p6", "ls", "x"))
    assert [(m.role, m.kind, m.content) for m in messages(store.database)] == [
        ("system", "summary", "They made tea."),
        ("system", "command", "review it"),
        ("system", "agent", "find it"),
        ("system", "agent", ""),
        ("tool", "agent", "x"),
    ]


def test_the_database_stays_as_it_is(store: Store) -> None:
    """While the program has it open, and after it left."""
    store.create().session("s1")
    with closing(sqlite3.connect(store.database)) as program:
        program.execute("INSERT INTO message VALUES('m1', 's1', ?, ?)", (START, json.dumps({"role": "user"})))
        program.execute("INSERT INTO part VALUES('p1', 'm1', 's1', ?)", (json.dumps({"type": "text", "text": "now"}),))
        program.commit()
        assert told(store.database) == [("user", "now")]
    before = store.database.read_bytes()
    assert told(store.database) == [("user", "now")]
    assert store.database.read_bytes() == before
    assert [path.name for path in store.folder.iterdir()] == ["opencode.db"]


def test_the_files_of_before(store: Store) -> None:
    store.file("s1", message("msg_2", "assistant", 1), text("prt_2", "At 7."))
    path = store.file("s1", message("msg_1", "user"), text("prt_1", "几点？"), title="New session - 2026-01-01")
    (chunk,) = read(path)
    assert told(path) == [("user", "几点？"), ("assistant", "At 7.")]
    assert (chunk.session, chunk.cwd, chunk.title, chunk.records) == ("opencode:s1", FOLDER, "", 5)
    assert [path for path, _ in files_of([store.folder])] == [path]


def test_a_session_in_both_is_one_and_the_database_wins(store: Store) -> None:
    store.create().session("s1").says("s1", message("m1", "user"), text("p1", "as it is now"))
    path = store.file("s1", message("m1", "user"), text("p1", "as it was"))
    store.file("s1", message("m0", "user", -1), text("p0", "left behind"))
    assert told(path) == [("user", "left behind")]
    assert told(store.database) == [("user", "as it is now")]
    store.database.write_bytes(store.database.read_bytes()[:300])
    assert [words for _, words in told(path)] == ["left behind", "as it was"]
    with pytest.raises(BadInput):
        read(store.database)


def test_the_earliest_layout(tmp_path: Path) -> None:
    session = tmp_path / "storage" / "session"
    _write(session / "info" / "s1.json", {"id": "s1", "time": {"created": START}})
    _write(session / "message" / "s1" / "m1.json", message("m1", "user", path={"cwd": FOLDER}))
    _write(session / "part" / "s1" / "m1" / "p1.json", text("p1", "hello"))
    _write(session / "message" / "s1" / "m2.json", message("m2", "assistant", 1, parts=[text("", "hi")]))
    (chunk,) = read(session / "info" / "s1.json")
    assert [m.content for m in chunk.messages] == ["hello", "hi"]
    assert chunk.cwd == FOLDER


def test_an_export_and_printed_lines(tmp_path: Path) -> None:
    export = tmp_path / "export.json"
    info = {"id": "s1", "projectID": "p", "directory": FOLDER}
    told_before = [{"info": message("m1", "user"), "parts": [text("p1", "几点？")]}]
    _write(export, {"info": info, "messages": told_before})
    assert told(export) == [("user", "几点？")]
    printed = tmp_path / "run.jsonl"
    lines = [
        {
            "type": "step_start",
            "timestamp": START,
            "sessionID": "s1",
            "part": {"type": "step-start", "messageID": "m2"},
        },
        {
            "type": "tool_use",
            "timestamp": START,
            "sessionID": "s1",
            "part": {**tool("p2", "ls", "x"), "messageID": "m2"},
        },
        {"type": "text", "timestamp": START, "sessionID": "s1", "part": {**text("p3", "7"), "messageID": "m2"}},
    ]
    printed.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{broken\n")
    chunks = read(printed)
    assert [m.role for chunk in chunks for m in chunk.messages] == ["assistant", "tool", "assistant"]
    assert [problem.line for chunk in chunks for problem in chunk.problems] == [4]


def test_damage_costs_its_part(store: Store) -> None:
    store.create().session("s1").says("s1", message("m1", "user"), "{broken", text("p1", "whole"))
    (chunk,) = read(store.database)
    assert [m.content for m in chunk.messages] == ["whole"]
    assert len(chunk.problems) == 1
    path = store.file("s2", message("m2", "user"), text("p2", "kept"))
    (path.parents[2] / "message" / "s2" / "m3.json").write_text("{")
    (chunk,) = read(path)
    assert [m.content for m in chunk.messages] == ["kept"]
    assert "m3.json" in chunk.problems[0].reason


def test_long_sessions_come_in_parts_and_our_own_not_at_all(store: Store) -> None:
    store.create().session("s0").says("s0", message("h1", "user"), text("h", "[memory-helper v1] select"))
    store.session("s1", directory="", title="x")
    for number in range(9):
        store.says("s1", message(f"m{number}", "user", number), text(f"p{number}", "word " * 20))
    parts = list(READER.chunks(store.database, limit=250))
    assert [len(part.messages) for part in parts] == [3, 3, 3, 0]
    assert [part.at_end for part in parts] == [False, False, False, True]
    assert {(part.session, part.cwd) for part in parts} == {("opencode:s1", "/home/kim/worktree")}


def test_a_reply_that_is_being_written_is_left_for_later(store: Store) -> None:
    second = (time.time() * 1000 - START) / 1000
    store.create().session("s1")
    store.says("s1", message("m1", "assistant", 1), text("p1", "never completed"))
    store.says("s1", message("m2", "user", int(second) - 9), text("p2", "写完了吗？"))
    store.says("s1", message("m3", "assistant", int(second) - 5), text("p3", "Half a"))
    assert [words for _, words in told(store.database)] == ["never completed", "写完了吗？"]
    done = message("m4", "assistant", int(second) - 5)
    done["time"]["completed"] = START + int(second) * 1000
    store.says("s1", done, text("p4", "Done."))
    assert [words for _, words in told(store.database)] == ["never completed", "写完了吗？", "Done."]
