from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from tests.clients.reading import Store, chunks, format_of, messages, reasons, told, written


def said(uuid: str, sender: str, text: str = "", **fields: Any) -> dict[str, Any]:
    return {"uuid": uuid, "sender": sender, "text": text, "created_at": "2026-02-03T04:05:06.123456Z", **fields}


def talk(*said_messages: Any, uuid: str = "t1", name: str = "Tea 茶") -> dict[str, Any]:
    created = "2026-02-03T04:05:00Z"
    return {"uuid": uuid, "name": name, "created_at": created, "chat_messages": list(said_messages)}


def test_pasted_text_is_the_users_although_it_stands_only_in_an_attachment(tmp_path: Path) -> None:
    pasted = [{"file_name": "", "extracted_content": "很长的文字"}, {"file_name": "a.py", "extracted_content": "x = 1"}]
    path = written(
        tmp_path / "conversations.json",
        [talk(said("m1", "human", "", attachments=pasted, files=[{"file_name": "p.png"}]))],
    )
    assert told("claude-ai", path) == [("user", "很长的文字\n\n[a.py]\nx = 1\n\n[file p.png]")]


def test_blocks_are_read_and_thinking_is_not_kept(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "id": "c1", "name": "search", "input": {"q": "茶"}},
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "found"}]},
        {"type": "token_budget"},
        {"type": "text", "text": "Here."},
    ]
    path = written(
        tmp_path / "conversations.json",
        [
            talk(
                said("m1", "human", "flat", content=[]),
                said("m2", "assistant", "flat copy", content=blocks, parent_message_uuid="m1"),
                said("m3", "human", content=[{"type": "voice_note", "text": "spoken"}], parent_message_uuid="m2"),
            )
        ],
    )
    assert told("claude-ai", path) == [
        ("user", "flat"),
        ("assistant", "I look.\n\nHere."),
        ("tool", "found"),
        ("user", "spoken"),
    ]
    _, reply, result, spoken = messages("claude-ai", path)
    assert (reply.tool_calls[0].arguments, result.tool_call_id) == ('{"q": "茶"}', "c1")
    assert (reply.parent, spoken.parent) == ("m1", result.uid)


def test_json_and_zip_are_one_and_an_empty_talk_is_told(tmp_path: Path) -> None:
    export = [talk(said("m1", "human", "hello")), talk(uuid="t2", name="")]
    path = written(tmp_path / "conversations.json", export)
    with zipfile.ZipFile(tmp_path / "data.zip", "w") as archive:
        archive.writestr("conversations.json", json.dumps(export))
    assert format_of(path) == format_of(tmp_path / "data.zip") == "claude-ai"
    store = Store(tmp_path)
    assert store.twice(path).messages_new == 1
    assert store.once(tmp_path / "data.zip").messages_new == 0
    assert [text for _, text in reasons("claude-ai", path)] == ["skipped: no message in the conversation"]
    assert chunks("claude-ai", path)[0].title == "Tea 茶"


def test_an_archive_that_is_damaged_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "data.zip", b"PK\x03\x04 and no more")
    assert format_of(path) == ""
    assert "zip" in Store(tmp_path).once(path).problems[0].reason
    assert "cannot be read" in Store(tmp_path).once(path, source="claude-ai").problems[0].reason
