"""Foreign files are what they are: cut anywhere, bytes overwritten, wrong types. A reader reports; it never breaks."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.clients.readers import reader_of
from catmem.domain.errors import CatmemError
from tests.clients.reading import lines

CHATGPT = [
    {
        "conversation_id": "c1",
        "title": "茶",
        "create_time": 1770000000.5,
        "current_node": "b",
        "mapping": {
            "a": {"id": "a", "parent": None, "children": ["b"], "message": {"id": "a", "author": {"role": "user"}, "create_time": 1770000000.5, "content": {"content_type": "text", "parts": ["泡茶", {"content_type": "image_asset_pointer"}]}, "metadata": {}}},
            "b": {"id": "b", "parent": "a", "message": {"id": "b", "author": {"role": "assistant"}, "recipient": "all", "content": {"parts": ["Boil \\ud83d"]}}},
        },
    }
]  # fmt: skip
CLAUDE_AI = [
    {
        "uuid": "t1",
        "name": "茶",
        "created_at": "2026-02-03T04:05:06Z",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "", "content": [{"type": "text", "text": "泡茶"}], "attachments": [{"file_name": "", "extracted_content": "long"}], "files": []},
            {"uuid": "m2", "sender": "assistant", "text": "x", "content": [{"type": "tool_use", "id": "c", "name": "s", "input": {"a": 1}}, {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "y"}]}]},
        ],
    }
]  # fmt: skip
CLINE = [
    {"ts": 1770000000000, "type": "say", "say": "task", "text": "泡茶", "images": ["x"]},
    {"ts": 1770000001000, "type": "ask", "ask": "followup", "text": '{"question": "Green?"}'},
    {"ts": 1770000002000, "type": "say", "say": "condense_context", "contextCondense": {"summary": "s"}},
    {"ts": 1770000003000, "type": "ask", "ask": "tool", "text": '{"tool": "readFile"}', "partial": False},
]
CURSOR = [
    {"role": "user", "message": {"content": [{"type": "text", "text": "<user_query>\n泡茶\n</user_query>"}]}},
    {"role": "assistant", "message": {"content": [{"type": "tool_use", "name": "Shell", "input": {"c": "ls"}}]}},
    {"type": "tool", "timestamp": 1770000000000, "message": {"tool_name": "R", "tool_input": {}, "tool_output": "o"}},
]
OPENCLAW = [
    {"type": "session", "id": "s1", "cwd": "/home/kim", "timestamp": "2026-02-03T04:05:06Z"},
    {"type": "message", "id": "m1", "parentId": None, "message": {"role": "user", "content": [{"type": "text", "text": "[Tue 2026-02-03 12:05 UTC] 泡茶"}], "timestamp": 1770000000000}},
    {"type": "message", "id": "m2", "parentId": "m1", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "c", "name": "r", "arguments": {}}], "usage": {"input": 1}}},
    {"type": "compaction", "id": "k", "parentId": "m2", "summary": "so far"},
]  # fmt: skip
NANOBOT = [
    {"_type": "metadata", "created_at": "2026-02-03T04:05:06", "metadata": {"cwd": "/home/kim"}},
    {"role": "user", "content": [{"type": "text", "text": "泡茶"}], "timestamp": "2026-02-03T04:05:06"},
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "content": "out", "tool_call_id": "c", "usage": {"input_tokens": 1}},
]
AIDER = "\n# aider chat started at 2026-01-02 03:04:05\n\n> Aider  \n\n#### 泡茶  \n\nBoil.\n\n> out\nput  \n"
SPECSTORY = (
    "<!-- Claude Code Session 0f0e (2026-05-11 10:00:00Z) -->\n\n_**User (2026-05-11 10:00:00Z)**_\n\n"
    "<command-name>/exit</command-name>泡茶\n\n---\n\n_**Agent (m 2026-05-11 10:00:05Z)**_\n\n<think>x</think>\n"
    '<tool-use data-tool-name="B"><details>\nok\n</details></tool-use>\nDone.\n'
)
FILES: dict[str, tuple[str, Any]] = {
    "chatgpt": ("conversations.json", CHATGPT),
    "claude-ai": ("conversations.json", CLAUDE_AI),
    "cline": ("ui_messages.json", CLINE),
    "cursor": ("t.jsonl", CURSOR),
    "openclaw": ("s1.jsonl", OPENCLAW),
    "nanobot": ("a.jsonl", NANOBOT),
    "aider": (".aider.chat.history.md", AIDER),
    "specstory": ("a.md", SPECSTORY),
}


def spelled(client: str, value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    document = lines(*value) if FILES[client][0].endswith(".jsonl") else json.dumps(value, ensure_ascii=False)
    return document.encode("utf-8", "surrogatepass")


def survives(client: str, path: Path, data: bytes) -> list[str]:
    """Reads it: what was said, or nothing if it is refused. Any other error fails the test."""
    path.write_bytes(data)
    reader = reader_of(client)
    try:
        reader.knows(path, data[:4096])  # type: ignore[attr-defined]
        found = list(reader.chunks(path))
    except CatmemError:
        return []
    said = [message.content for chunk in found for message in chunk.messages]
    "".join(said).encode()  # no lone surrogate came through
    assert not any(message.timestamp.startswith("1970") for chunk in found for message in chunk.messages)
    return said


@pytest.mark.parametrize("client", list(FILES))
def test_a_file_that_is_cut_at_any_byte_gives_what_was_whole(client: str, tmp_path: Path) -> None:
    name, value = FILES[client]
    data = spelled(client, value)
    whole = survives(client, tmp_path / name, data)
    assert any("泡茶" in text for text in whole)
    for size in range(len(data)):
        survives(client, tmp_path / name, data[:size])


@pytest.mark.parametrize("client", list(FILES))
def test_overwritten_bytes_break_nothing(client: str, tmp_path: Path) -> None:
    name, value = FILES[client]
    data, chance = spelled(client, value), random.Random(7)
    for _ in range(300):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 3, 20))):
            damaged[chance.randrange(len(damaged))] = chance.choice(b'\x00\xff"\\{}[],:\n \xe6')
        survives(client, tmp_path / name, bytes(damaged))


_ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.just("\ud83d"),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


def replaced(value: Any, target: int, by: Any) -> Any:
    """The value with its part number `target`, counted in depth first order, replaced."""
    count = -1

    def walk(part: Any) -> Any:
        nonlocal count
        count += 1
        if count == target:
            return by
        if isinstance(part, dict):
            return {name: walk(inner) for name, inner in part.items()}
        return [walk(inner) for inner in part] if isinstance(part, list) else part

    return walk(value)


@pytest.mark.parametrize("client", [name for name, (_, value) in FILES.items() if not isinstance(value, str)])
@given(target=st.integers(1, 60), by=_ANYTHING)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_any_field_may_hold_anything(client: str, tmp_path: Path, target: int, by: Any) -> None:
    name, value = FILES[client]
    changed = replaced(value, target, by)
    # Escaped, since half a surrogate pair cannot be written otherwise.
    data = "".join(json.dumps(r) + "\n" for r in changed) if name.endswith(".jsonl") else json.dumps(changed)
    survives(client, tmp_path / name, data.encode())


@pytest.mark.parametrize("client", ["cursor", "llm"])
def test_damaged_databases_are_refused_or_read(client: str, tmp_path: Path) -> None:
    path = tmp_path / ("state.vscdb" if client == "cursor" else "logs.db")
    connection = sqlite3.connect(path)
    connection.executescript(
        """CREATE TABLE cursorDiskKV (key TEXT, value BLOB); CREATE TABLE ItemTable (key TEXT, value BLOB);
        INSERT INTO cursorDiskKV VALUES ('composerData:c', '{"conversation": [{"type": 1, "text": "hi"}]}'), ('bubbleId:c:b', x'ff');
        INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata', '[1]');
        CREATE TABLE responses (id TEXT, prompt TEXT, response TEXT, datetime_utc TEXT, conversation_id TEXT);
        INSERT INTO responses VALUES ('r', 'hi', x'ff00', 12, NULL), (NULL, 5, NULL, NULL, 'c');
        CREATE TABLE turns (id TEXT, thread_id TEXT); CREATE TABLE threads (id TEXT); INSERT INTO turns VALUES ('u', NULL);"""
    )
    connection.close()
    data, chance = path.read_bytes(), random.Random(7)
    assert "hi" in survives(client, path, data)
    for _ in range(150):
        damaged = bytearray(data)
        for _ in range(chance.choice((1, 20, 200))):
            damaged[chance.randrange(16, len(damaged))] = chance.randrange(256)
        survives(client, path, bytes(damaged[: chance.choice((len(data), len(data) // 2))]))
