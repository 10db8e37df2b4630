from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from catmem.clients.openclaw.wire import typed
from tests.clients.reading import Store, chunks, format_of, lines, messages, told, written

HEAD = {"type": "session", "id": "s1", "cwd": "/home/kim/pot", "timestamp": "2026-02-03T04:05:06Z"}


def entry(own: str, parent: str | None, role: str, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, "timestamp": 1770091506000, **fields}
    return {"type": "message", "id": own, "parentId": parent, "timestamp": "2026-02-03T04:05:06Z", "message": message}


TALK = [
    HEAD,
    {"type": "model_change", "id": "x1", "parentId": None},
    entry("m1", "x1", "user", [{"type": "text", "text": "[Tue 2026-02-03 12:05 GMT+8] 泡茶"}]),
    entry(
        "m2",
        "m1",
        "assistant",
        [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "I look."},
            {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"p": "茶"}},
        ],
        usage={"input": 5, "output": 2, "cacheRead": 1, "cost": {}},
    ),
    entry("m3", "m2", "toolResult", [{"type": "text", "text": "leaves"}], toolCallId="c1"),
    {"type": "custom", "id": "x2", "parentId": "m3"},
    entry("m4", "x2", "assistant", [{"type": "text", "text": "Green."}]),
]


def test_a_session_is_read_with_its_calls_and_its_tree(tmp_path: Path) -> None:
    path = written(tmp_path / "s1.jsonl", lines(*TALK))
    assert format_of(path) == "openclaw"
    (chunk,) = chunks("openclaw", path)
    assert (chunk.session, chunk.cwd) == ("openclaw:s1", "/home/kim/pot")
    assert told("openclaw", path) == [
        ("user", "泡茶"),
        ("assistant", "I look."),
        ("tool", "leaves"),
        ("assistant", "Green."),
    ]
    asked, reply, result, end = chunk.messages
    assert (asked.parent, end.parent) == ("", "m3")
    assert (reply.tool_calls[0].arguments, result.tool_call_id) == ('{"p": "茶"}', "c1")
    assert reply.usage == {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 1}


def test_the_newest_branch_lives(tmp_path: Path) -> None:
    path = written(tmp_path / "s1.jsonl", lines(*TALK, entry("m5", "m1", "assistant", "Black.")))
    store = Store(tmp_path)
    assert store.twice(path).messages_new == 5
    assert store.live()["openclaw:s1"] == [("user", "泡茶"), ("assistant", "Black.")]


def test_an_archived_copy_is_the_same_session_and_what_was_deleted_is_not_walked(tmp_path: Path) -> None:
    for name in ("s1.jsonl", "s1.jsonl.reset.2026-02-04T00-00-00Z", "s1.jsonl.deleted.2026-02-04", "s1.jsonl.full.bak"):
        written(tmp_path / "sessions" / name, lines(*TALK))
    report = Store(tmp_path).twice(tmp_path / "sessions")
    assert (report.sessions, report.messages_new, report.messages_known) == (1, 4, 8)


def test_summaries_and_commands_are_not_the_users_words(tmp_path: Path) -> None:
    path = written(
        tmp_path / "s1.jsonl",
        lines(
            HEAD,
            {"type": "compaction", "id": "k", "parentId": None, "summary": "so far"},
            entry("m1", "k", "bashExecution", None, command="ls", output="a.py"),
            entry("m2", "m1", "custom", "note"),
        ),
    )
    assert [(m.role, m.kind, m.content) for m in messages("openclaw", path)] == [
        ("system", "summary", "so far"),
        ("system", "command", "$ ls\na.py"),
        ("system", "notice", "note"),
    ]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("plain words", "plain words"),
        ("[WhatsApp +12 2026-02-03 12:05] 好", "好"),
        ("[see 2026-02-03 notes] first", "[see 2026-02-03 notes] first"),
        ('Sender (untrusted metadata):\n```json\n{"a": 1}\n```\n\n[Tue 2026-02-03 12:05 UTC] hi', "hi"),
        ("hi\n[message_id: 42]", "hi"),
    ],
)
def test_what_a_channel_puts_around_a_message_is_not_typed(sent: str, said: str) -> None:
    assert typed(sent) == said
