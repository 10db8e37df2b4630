from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.capture.formats import format_of
from catmem.clients.gemini_cli.history import READER
from catmem.clients.port import TranscriptChunk
from catmem.domain.errors import BadInput, StorageFailed
from catmem.domain.message import Message
from catmem.domain.session import live_path

HASH = hashlib.sha256(b"/home/kim/kettle").hexdigest()
HEAD = {"sessionId": "g1", "projectHash": HASH, "startTime": "2026-04-01T08:00:00.000Z", "kind": "main"}
CONTEXT = "<session_context>\n- **Workspace Directories:**\n  - /home/kim/told\n</session_context>"


def said(name: str, kind: str, content: Any, minute: int = 1, **fields: Any) -> dict[str, Any]:
    if isinstance(content, str) and kind == "user":
        content = [{"text": content}]
    return {"id": name, "timestamp": f"2026-04-01T08:{minute:02d}:00.000Z", "type": kind, "content": content, **fields}


def log(folder: Path, *records: object, head: dict[str, Any] = HEAD) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "session-2026-04-01T08-00-g1.jsonl"
    lines = [record if isinstance(record, str) else json.dumps(record, ensure_ascii=False) for record in records]
    path.write_text("".join(line + "\n" for line in [json.dumps(head), *lines]), encoding="utf-8")
    return path


def messages(path: Path) -> list[Message]:
    assert format_of(path) == "gemini"
    return [message for chunk in READER.chunks(path) for message in chunk.messages]


def told(path: Path) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages(path)]


def test_the_older_form_is_one_object(tmp_path: Path) -> None:
    chat = {**HEAD, "summary": "水壶", "messages": [said("m1", "user", "几点？"), said("m2", "gemini", "7 点。", 2)]}
    path = tmp_path / "session-old.json"
    for indent in (None, 2):
        path.write_text(json.dumps(chat, indent=indent))
        (chunk,) = READER.chunks(path)
        assert told(path) == [("user", "几点？"), ("assistant", "7 点。")]
        assert (chunk.session, chunk.title, chunk.records) == ("gemini:g1", "水壶", 1)
        assert chunk.messages[1].timestamp == "2026-04-01T08:02:00.000Z"
        assert [m.parent for m in chunk.messages] == ["", "m1"]
    path.write_text(json.dumps(chat)[:-30])
    (chunk,) = READER.chunks(path)
    assert chunk.problems and not chunk.messages


def test_a_message_with_a_known_id_replaces_the_earlier(tmp_path: Path) -> None:
    path = log(tmp_path, said("u", "user", "茶"), said("a", "gemini", "Te"), said("a", "gemini", "Tea."))
    assert told(path) == [("user", "茶"), ("assistant", "Tea.")]


def alive(chunks: Sequence[TranscriptChunk]) -> list[Message]:
    """What is left of a chat after its rewinds."""
    leaf = next((str(mark["uid"]) for chunk in chunks for mark in chunk.marks if mark["mark"] == "leaf"), "")
    return live_path([message for chunk in chunks for message in chunk.messages], leaf)


def test_what_was_taken_back_is_a_dead_branch(tmp_path: Path) -> None:
    path = log(
        tmp_path,
        said("u1", "user", "one"),
        said("u2", "user", "red"),
        said("a2", "gemini", "red it is"),
        {"$rewindTo": "u2"},
        {"$rewindTo": "nobody"},
        said("u3", "user", "green"),
    )
    chunks = list(READER.chunks(path))
    assert [m.content for m in messages(path)] == ["one", "red", "red it is", "green"]
    assert [m.content for m in alive(chunks)] == ["one", "green"]


@pytest.mark.parametrize(("again", "left"), [((), []), ((said("u3", "user", "绿色"),), ["绿色"])])
def test_the_first_message_can_be_taken_back(tmp_path: Path, again: tuple[object, ...], left: list[str]) -> None:
    taken = (said("u1", "user", "红色"), said("a1", "gemini", "红色。"), {"$rewindTo": "u1"})
    path = log(tmp_path, said("c", "user", CONTEXT), *taken, *again)
    assert {"红色", "红色。"} <= {m.content for m in messages(path)}
    assert [m.content for m in alive(list(READER.chunks(path)))] == left


def test_a_patch_changes_messages_and_loses_none(tmp_path: Path) -> None:
    """The program leaves out of its own list what was typed: a person did say it."""
    rebuilt = [said("c", "user", CONTEXT), said("a1", "gemini", [{"text": "first reply"}]), said("n", "user", "new")]
    path = log(
        tmp_path,
        said("u1", "user", "typed first"),
        said("a1", "gemini", "first"),
        {"$set": {"messages": rebuilt, "summary": "Kettles"}},
        said("a2", "gemini", "second"),
        {"$set": {"lastUpdated": "2026-04-01T09:00:00.000Z"}},
    )
    assert told(path) == [
        ("user", "typed first"),
        ("assistant", "first reply"),
        ("user", "new"),
        ("assistant", "second"),
    ]
    (chunk,) = READER.chunks(path)
    assert chunk.title == "Kettles"


def test_what_the_program_adds_is_not_typed(tmp_path: Path) -> None:
    hooked = "<hook_context>tea at 5</hook_context>\n\n改到 8 点"
    unfolded = [
        {"text": "look at @a.py"},
        {"text": "\n--- Content from referenced files ---"},
        {"text": "\nContent from @a.py:\n"},
        {"text": "x = 1"},
        {"text": "\n--- End of content ---"},
    ]
    path = log(
        tmp_path,
        said("c", "user", CONTEXT),
        said("o", "user", "This is the Gemini CLI. We are setting up the context for our chat.\nToday …"),
        said("h", "user", [{"text": hooked}, {"text": "<hook_context>again</hook_context>"}]),
        said("f", "user", unfolded),
        said("d", "user", "long unfolded text", displayContent=[{"text": "short"}]),
        said("n", "user", "System: Please continue."),
        said("s", "user", "<state_snapshot>they made tea</state_snapshot>"),
        said("i", "user", [{"text": "see"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]),
        said("e", "error", "quota"),
    )
    assert [(m.role, m.kind, m.content) for m in messages(path)] == [
        ("user", "", "改到 8 点"),
        ("user", "", "look at @a.py"),
        ("user", "", "short"),
        ("system", "summary", "<state_snapshot>they made tea</state_snapshot>"),
        ("user", "", "see\n[image/png]"),
        ("system", "notice", "quota"),
    ]


def call(name: str, tool: str, output: str | None = None, **fields: Any) -> dict[str, Any]:
    result = [{"functionResponse": {"id": name, "name": tool, "response": {"output": output}}}]
    return {"id": name, "name": tool, "args": {"q": "茶"}, **({"result": result} if output else {}), **fields}


def test_calls_and_their_results(tmp_path: Path) -> None:
    later = [{"functionResponse": {"id": "c2", "name": "ls", "response": {"output": "b.py"}}}]
    path = log(
        tmp_path,
        said("u", "user", "look"),
        said(
            "a",
            "gemini",
            [{"text": "Looking.", "thought": False}, {"text": "hm", "thought": True}],
            tokens={"input": 4},
        ),
        said(
            "a",
            "gemini",
            "Looking.",
            tokens={"input": 5, "output": 2, "cached": 1, "total": 7},
            toolCalls=[
                call("c1", "ls", "a.py\n<hook_context>tea</hook_context>"),
                call("c2", "ls"),
                call("c3", "mcp_catmem_recall", "likes tea"),
                call("c4", "ls", status="cancelled"),
            ],
        ),
        said("r", "user", [*later, *later]),
    )
    found = messages(path)
    assert [(m.role, m.content, m.tool_call_id) for m in found[1:]] == [
        ("assistant", "Looking.", ""),
        ("assistant", "", ""),
        ("tool", "a.py", "c1"),
        ("assistant", "", ""),
        ("assistant", "", ""),
        ("tool", "[recalled memories, not kept here]", "c3"),
        ("assistant", "", ""),
        ("tool", "[cancelled]", "c4"),
        ("tool", "b.py", "c2"),
    ]
    assert found[1].usage == {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 1}
    assert [json.loads(c.arguments) for m in found for c in m.tool_calls] == [{"q": "茶"}] * 4


def test_a_subagent_is_no_person(tmp_path: Path) -> None:
    chat = [said("u", "user", "find it"), said("a", "gemini", "found", toolCalls=[call("c", "ls", "x")])]
    assert {m.kind for m in messages(log(tmp_path / "a", *chat, head={**HEAD, "kind": "subagent"}))} == {"agent"}
    nested = log(tmp_path / "chats" / "11111111-session", *chat)
    assert {(m.role, m.kind) for m in messages(nested)} == {("system", "agent"), ("tool", "agent")}


@pytest.mark.parametrize("how", ["root", "name", "hash", "context", "nothing"])
def test_the_project_is_told_by_what_lies_beside(tmp_path: Path, how: str) -> None:
    project = tmp_path / "tmp" / "kettle-1"
    path = log(project / "chats", said("c", "user", CONTEXT if how != "nothing" else "x"), said("u", "user", "hi"))
    if how == "root":
        (project / ".project_root").write_text("/home/kim/水壶\n")
    elif how in ("name", "hash"):
        root, name = ("/home/kim/named", "kettle-1") if how == "name" else ("/home/kim/kettle", "other")
        (tmp_path / "projects.json").write_text(json.dumps({"projects": {"/elsewhere": "x", root: name}}))
    (chunk,) = READER.chunks(path)
    assert (
        chunk.cwd
        == {
            "root": "/home/kim/水壶",
            "name": "/home/kim/named",
            "hash": "/home/kim/kettle",
            "context": "/home/kim/told",
            "nothing": "",
        }[how]
    )


def test_damage_costs_its_line(tmp_path: Path) -> None:
    path = log(tmp_path, said("u", "user", "one"), '{"id": "x", "type": broken', "7", said("a", "gemini", "1"))
    with path.open("ab") as file:
        file.write(b'\x00\x00\n{"id": "b", "ty')
    (chunk,) = READER.chunks(path)
    assert [m.content for m in chunk.messages] == ["one", "1"]
    assert [problem.line for problem in chunk.problems] == [3, 4, 6, 7]
    path.write_bytes("\ufeffx".encode("utf-16"))
    with pytest.raises(BadInput):
        list(READER.chunks(path))
    with pytest.raises(StorageFailed):
        list(READER.chunks(tmp_path / "gone.jsonl"))


def test_a_chat_without_a_hash_or_ids(tmp_path: Path) -> None:
    head = {"sessionId": "g2", "startTime": "2026-04-01T08:00:00.000Z"}
    path = log(tmp_path, {"type": "user", "content": "same"}, {"type": "user", "content": "same"}, head=head)
    found = messages(path)
    assert len({m.uid for m in found}) == 2
    assert [m.uid for m in found] == [m.uid for m in messages(path)]
    assert found[0].timestamp == "2026-04-01T08:00:00.000Z"


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["say", "set", "back"]), st.lists(st.integers(0, 6), min_size=1, max_size=5)),
        max_size=12,
    ),
    limit=st.integers(1, 50),
)
def test_no_patch_takes_words_away(tmp_path: Path, steps: list[tuple[str, list[int]]], limit: int) -> None:
    """All that was ever said is there, once, in any cutting; what was not taken back is the living path."""
    records: list[object] = []
    kept: dict[str, str] = {}
    ever: set[str] = set()
    for number, (step, names) in enumerate(steps):
        ids = [f"m{name}" for name in names]
        if step == "back":
            records.append({"$rewindTo": ids[0]})
            kept = dict(list(kept.items())[: list(kept).index(ids[0])]) if ids[0] in kept else kept
        else:
            told = [
                said(one, "user", f"{one} 第{number}") for one in (dict.fromkeys(ids) if step == "set" else ids[:1])
            ]
            records += [{"$set": {"messages": told}}] if step == "set" else told
            kept.update({one["id"]: one["content"][0]["text"] for one in told})
            ever.update(kept)
    path = log(tmp_path, *records)
    parts = list(READER.chunks(path, limit=limit))
    found = [m for part in parts for m in part.messages]
    assert sorted(m.uid for m in found) == sorted(ever)
    assert [(m.uid, m.content) for m in alive(parts)] == list(kept.items())
    assert [part.at_end for part in parts] == [False] * (len(parts) - 1) + [True]
