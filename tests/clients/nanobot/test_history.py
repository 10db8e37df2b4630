from __future__ import annotations

from pathlib import Path

from tests.clients.reading import Store, chunks, format_of, lines, messages, reasons, told, written

META = {"_type": "metadata", "created_at": "2026-02-03T04:05:06", "last_consolidated": 0, "metadata": {}}
AT = "2026-02-03T04:05:07.5"


def test_a_session_of_nanobot(tmp_path: Path) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "茶"}'}}
    path = written(
        tmp_path / "telegram_42.jsonl",
        lines(
            META,
            {"_type": "provider_state", "secret": "private"},
            {"role": "user", "content": "泡茶", "timestamp": AT},
            {"role": "assistant", "content": None, "tool_calls": [call], "timestamp": AT},
            {"role": "tool", "content": "found", "tool_call_id": "c1", "name": "search", "timestamp": AT},
            {"role": "assistant", "content": "[Message Time: 2026-02-03 04:05]\nGreen.", "timestamp": AT},
            {"role": "narrator", "content": "?"},
        ),
    )
    assert format_of(path) == "nanobot"
    assert chunks("nanobot", path)[0].session == "nanobot:telegram_42"
    assert told("nanobot", path) == [("user", "泡茶"), ("assistant", ""), ("tool", "found"), ("assistant", "Green.")]
    _, asked, result, _ = messages("nanobot", path)
    assert (asked.tool_calls[0].name, result.tool_call_id) == ("search", "c1")
    found = reasons("nanobot", path)
    assert any("without a zone" in reason and "(4)" in reason for _, reason in found)
    assert any(number == 7 and "narrator" in reason for number, reason in found)
    assert Store(tmp_path).twice(path).messages_new == 4


def test_a_session_of_catbuddy_is_named_by_its_line_1(tmp_path: Path) -> None:
    head = {"key": "cli:kim", "title": "茶", "preview": "", "created_at": "2026-02-03T04:05:06Z"}
    said = {"id": 1, "sessionKey": "cli:kim", "role": "user", "content": "hello", "timestamp": "2026-02-03T04:05:07Z"}
    call = {"id": "c1", "name": "ls", "arguments": "{}"}
    path = written(
        tmp_path / "cli_kim.jsonl",
        lines(
            {**head, "last_consolidated": 0, "metadata": {"project": "pot", "cwd": "/home/kim/pot"}},
            said,
            {**said, "id": 2, "role": "assistant", "content": "ok", "toolCalls": [call]},
            {"mark": "end", "sessionKey": "cli:kim"},
        ),
    )
    assert format_of(path) == "nanobot"
    (chunk,) = chunks("nanobot", path)
    assert (chunk.session, chunk.project, chunk.cwd, chunk.title) == ("cli:kim", "pot", "/home/kim/pot", "茶")
    assert [(m.role, len(m.tool_calls)) for m in chunk.messages] == [("user", 0), ("assistant", 1)]
    assert chunk.problems == ()


def test_a_long_session_comes_in_parts_and_equal_words_stay_apart(tmp_path: Path) -> None:
    told_often = [{"role": "user", "content": "继续", "timestamp": AT} for _ in range(50)]
    path = written(tmp_path / "a.jsonl", lines(META, *told_often))
    parts = chunks("nanobot", path, limit=500)
    assert len(parts) > 5
    assert [part.first for part in parts] == [True] + [False] * (len(parts) - 1)
    assert len({m.uid for part in parts for m in part.messages}) == 50


def test_our_own_session_file_comes_back_as_it_was(tmp_path: Path) -> None:
    store = Store(tmp_path)
    path = written(tmp_path / "a.jsonl", lines(META, {"role": "user", "content": "keep 茶", "timestamp": AT}))
    store.once(path)
    own = next((tmp_path / "data" / "messages").rglob("*.jsonl"))
    other = Store(tmp_path / "other")
    other.twice(own)
    assert other.live() == store.live() == {"nanobot:a": [("user", "keep 茶")]}
