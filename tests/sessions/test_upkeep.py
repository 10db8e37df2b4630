from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catmem.domain.errors import BadInput
from catmem.domain.message import ToolCall
from catmem.domain.session import SessionRef
from catmem.sessions.adoption import adopt
from catmem.sessions.history import History
from catmem.sessions.records import header_record, message_to_record
from tests.sessions.support import KEY, REF, history_in, message, place_in

NAMES = {"cwd": "/w", "client": "claude-code", "title": "部署 plan"}


def exported(history: History, messages: bool) -> list[dict[str, Any]]:
    records = []
    for header in sorted(history.headers(), key=lambda h: h.ref):
        record = header_record(header)
        if messages:
            record["messages"] = [message_to_record(m) for m in history.read(header.ref).messages]
        records.append(record)
    return json.loads(json.dumps(records))  # type: ignore[no-any-return]


def lived(root: Path) -> History:
    history = history_in(root)
    history.append(REF, [message(n) for n in range(1, 6)], **NAMES)
    history.append(REF, [message(6)], marks=[{"mark": "consolidated", "first_id": 1, "last_id": 3}])
    ended = SessionRef("webshop", "codex:2")
    history.append(ended, [message(n) for n in (1, 2, 7)], marks=[{"mark": "inherited", "uids": ["u1", "u2"]}])
    history.append(ended, [], marks=[{"mark": "end", "reason": "clear"}])
    return history


@pytest.mark.parametrize("messages", [True, False])
def test_an_export_taken_in_and_exported_again_is_the_same(tmp_path: Path, messages: bool) -> None:
    first = exported(lived(tmp_path / "a"), messages)
    history = history_in(tmp_path / "b")
    for record in first:
        adopt(history, record, record.pop("messages", None))
    first = exported(history_in(tmp_path / "a"), messages)
    assert json.dumps(exported(history, messages)) == json.dumps(first)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*.jsonl")}
    for record in exported(history, messages):
        adopt(history, record, record.pop("messages", None))
    assert {p: p.read_bytes() for p in tmp_path.rglob("*.jsonl")} == before
    assert [f for h in history.headers() for f in history.check(h.ref)] == []


def test_a_session_that_went_on_here_is_not_set_back_by_an_export(tmp_path: Path) -> None:
    history = lived(tmp_path)
    old = exported(history, True)[0]
    history.append(REF, [message(100)], title="newer")
    adopt(history, old, old["messages"])
    content = history.read(REF)
    assert content.header.title == "newer" and content.header.count == 7


def test_messages_that_come_after_a_bare_listing_get_their_own_ids(tmp_path: Path) -> None:
    bare = exported(lived(tmp_path / "a"), False)[0]
    history = history_in(tmp_path / "b")
    adopt(history, bare)
    assert history.read(REF).header.count == 6 and history.messages(REF) == []
    assert [m.id for m in history.append(REF, [message(1), message(2)]).new] == [1, 2]
    assert history.read(REF).header.count == 2 and history.check(REF) == []


def test_an_export_that_is_none_is_refused_in_words(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    for wrong in ({}, {"key": 3, "metadata": {}}, {"key": "k", "metadata": None}):
        with pytest.raises(BadInput):
            adopt(history, wrong)
    with pytest.raises(BadInput, match="message 1"):
        adopt(history, {"key": "k", "metadata": {}}, [{"id": 0}])
    assert list(history.headers()) == []


def test_a_deleted_session_is_gone_with_all_that_was_set_aside(tmp_path: Path) -> None:
    history, place = lived(tmp_path), place_in(tmp_path)
    with Path(place.file).open("ab") as file:
        file.write("secret 垃圾\n".encode())
    history.read(REF)
    assert Path(place.quarantine).exists()
    history.delete(REF)
    assert [h.key for h in history_in(tmp_path).headers()] == ["codex:2"]
    assert not Path(place.quarantine).exists() and Path(place.lock).exists()
    assert [m.id for m in history.append(REF, [message(1)]).new] == [1]


def test_a_purged_sentence_is_nowhere(tmp_path: Path) -> None:
    history, place = history_in(tmp_path), place_in(tmp_path)
    quote = '我的 "wifi" 密码\n是 abc🐈'
    said = f"先说：{quote}。Then more."
    arguments = json.dumps({"note": quote}), json.dumps({"note": quote}, ensure_ascii=False)
    calls = tuple(ToolCall(f"c{n}", "Note", text) for n, text in enumerate(arguments))
    history.append(REF, [message(1, said), message(2, "ok", tool_calls=calls), message(3, "untouched")], title=said)
    history.settle(REF)
    with Path(place.file).open("ab") as file:
        file.write(f"broken {json.dumps(quote, ensure_ascii=False)}\n".encode())
    history.read(REF)
    assert history.purge(REF, quote.replace("\n", " ")) == 2
    data = "".join(p.read_text() for p in tmp_path.rglob("*") if p.is_file())
    for word in ("wifi", "密码", "abc", "\\u5bc6"):
        assert word not in data, word
    kept = [m.content for m in history.messages(REF) if m.role != "tool"]
    assert kept == ["先说：。Then more.", "ok", "untouched"]
    assert json.loads(history.messages(REF)[1].tool_calls[0].arguments) == {"note": ""}
    (header,) = history.headers()
    assert header.preview == "先说：。Then more." and header.metadata["purged"] and history.check(REF) == []
    size = Path(place.file).stat().st_size
    assert history.purge(REF, quote) == history.purge(REF, "  ") == 0 and Path(place.file).stat().st_size == size


def test_index_json(tmp_path: Path) -> None:
    history = lived(tmp_path)
    history.write_index()
    index = json.loads((tmp_path / "index.json").read_text())
    assert index["format"] == "catmem-index/1"
    assert [(p["key"], p["sessions"], p["messages"]) for p in index["projects"]] == [("webshop", 2, 7)]
    assert [s["key"] for s in index["sessions"]] == [KEY, "codex:2"]
    before = (tmp_path / "index.json").read_bytes()
    (tmp_path / "index.json").unlink()
    history.write_index()
    assert (tmp_path / "index.json").read_bytes() == before
