from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.clients.reading import Store, chunks, format_of, messages, told, written


def shown(at: int, say: str, text: str, **fields: Any) -> dict[str, Any]:
    return {"ts": 1770000000000 + at, "type": "say", "say": say, "text": text, **fields}


def asked(at: int, ask: str, text: str) -> dict[str, Any]:
    return {"ts": 1770000000000 + at, "type": "ask", "ask": ask, "text": text}


UI = [
    shown(0, "task", "泡茶", images=["data:image/png;base64,AAAA"]),
    shown(1, "api_req_started", '{"request": "…"}'),
    shown(2, "text", "I lo", partial=True),
    shown(2, "text", "I look.", partial=False),
    shown(3, "reasoning", "hm"),
    asked(4, "tool", text=json.dumps({"tool": "readFile", "path": "茶.py"})),
    asked(5, "command", text="ls"),
    shown(6, "command_output", "a.py"),
    asked(7, "followup", text=json.dumps({"question": "Green?", "options": ["yes"]})),
    shown(8, "user_feedback", "是"),
    shown(9, "completion_result", "Done."),
    asked(9, "completion_result", text="Done."),
    shown(10, "condense_context", "", contextCondense={"summary": "so far"}),
]


def task(folder: Path, ui: Any = UI, sent: Any = (), name: str = "1770000000000") -> Path:
    written(folder / "tasks" / name / "api_conversation_history.json", list(sent))
    written(folder / "tasks" / name / "task_metadata.json", {"files_in_context": []})
    return written(folder / "tasks" / name / "ui_messages.json", ui)


def test_what_was_shown_is_the_talk_and_what_is_partial_is_not(tmp_path: Path) -> None:
    path = task(tmp_path)
    assert format_of(path) == "cline"
    assert told("cline", path) == [
        ("user", "泡茶\n[image]"),
        ("assistant", "I look."),
        ("assistant", ""),
        ("assistant", ""),
        ("tool", "a.py"),
        ("assistant", "Green?"),
        ("user", "是"),
        ("assistant", "Done."),
        ("system", "so far"),
    ]
    called = messages("cline", path)
    assert [m.tool_calls[0].name for m in called if m.tool_calls] == ["readFile", "command"]
    assert called[4].tool_call_id == called[3].tool_calls[0].id
    assert called[0].timestamp == "2026-02-02T02:40:00.000Z"


def test_a_folder_of_tasks_is_walked_and_each_is_one_session(tmp_path: Path) -> None:
    listed = {"id": "1770000000000", "task": "泡茶", "cwdOnTaskInitialization": "/home/kim/pot"}
    written(tmp_path / "state" / "taskHistory.json", [listed])
    path = task(tmp_path)
    task(tmp_path, [shown(0, "task", "two")], name="2")
    report = Store(tmp_path).twice(tmp_path / "tasks")
    assert (report.sessions, report.messages_new, report.problems) == (2, 10, [])
    (chunk,) = chunks("cline", path)
    assert (chunk.session, chunk.title, chunk.cwd) == ("cline:1770000000000", "泡茶", "/home/kim/pot")


def test_the_task_of_a_subtask_was_written_by_an_agent(tmp_path: Path) -> None:
    path = task(tmp_path)
    written(path.parent / "history_item.json", {"id": "x", "parentTaskId": "p", "workspace": "/home/kim/roo"})
    first = messages("cline", path)[0]
    assert (first.role, first.kind) == ("system", "agent")
    assert chunks("cline", path)[0].cwd == "/home/kim/roo"


SENT = [
    {
        "role": "user",
        "content": [
            {"type": "text", "text": "<task>\n泡茶\n</task>"},
            {
                "type": "text",
                "text": "<environment_details>\n# Current Working Directory (/home/kim/my pot) Files\n</environment_details>",
            },
        ],
    },
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "<thinking>hm</thinking>\nI look."},
            {"type": "tool_use", "id": "c1", "name": "read", "input": {}},
        ],
    },
    {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "leaves"}]},
            {"type": "text", "text": "[ask] Result:\n<answer>\ngreen\n</answer>"},
            {"type": "text", "text": "<feedback>不要糖</feedback>"},
        ],
    },
]


def test_what_was_sent_is_read_where_nothing_was_shown(tmp_path: Path) -> None:
    path = written(tmp_path / "tasks" / "9" / "api_conversation_history.json", SENT)
    assert format_of(path) == "cline"
    assert told("cline", path) == [
        ("user", "泡茶"),
        ("assistant", "I look."),
        ("tool", "leaves"),
        ("user", "green\n不要糖"),
        ("system", "[ask] Result:"),
    ]
    assert chunks("cline", path)[0].cwd == "/home/kim/my pot"
    assert Store(tmp_path).twice(tmp_path / "tasks").messages_new == 5


def test_the_folder_is_told_by_what_was_sent(tmp_path: Path) -> None:
    assert chunks("cline", task(tmp_path, sent=SENT))[0].cwd == "/home/kim/my pot"


def test_bare_messages_are_taken_from_both_files(tmp_path: Path) -> None:
    ui = [{"role": "user", "timestamp": 1770000000000, "content": "hi"}]
    path = task(tmp_path, ui, [{"type": "assistant", "timestamp": 1770000001000, "text": "hello"}])
    assert told("cline", path) == [("user", "hi"), ("assistant", "hello")]


def test_a_message_whose_text_grew_is_not_there_twice(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.once(task(tmp_path, [shown(0, "task", "x"), shown(1, "text", "begin")]))
    store.once(task(tmp_path, [shown(0, "task", "x"), shown(1, "text", "begin and end")]))
    assert len(store.live()["cline:1770000000000"]) == 2
