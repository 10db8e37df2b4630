from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from catmem.domain.helper import HELPER_MARKER
from tests.clients.reading import Store, chunks, format_of, messages, reasons, told, written


def node(name: str, parent: str | None, role: str = "", text: object = "", at: float | None = None, **more: Any) -> Any:
    content = {"content_type": "text", "parts": text if isinstance(text, list) else [text]}
    message = {"id": name, "author": {"role": role}, "create_time": at, "content": content, **more} if role else None
    return {"id": name, "parent": parent, "message": message}


def talk(*nodes: Any, key: str = "c1", **fields: Any) -> dict[str, Any]:
    return {"title": "茶", "conversation_id": key, "mapping": {n["id"]: n for n in nodes}, **fields}


def branched(current: str) -> dict[str, Any]:
    return talk(
        node("root", None),
        node("a1", "root", "user", "用绿茶还是红茶？", 1770000000.25),
        node("b1", "a1", "assistant", "green", 1770000001.0),
        node("b2", "a1", "assistant", "black", 1770000002.0),
        node("c1", "b1", "user", "thanks", 1770000003.0),
        current_node=current,
    )


@pytest.mark.parametrize(("current", "answer"), [("b2", "black"), ("c1", "green"), ("gone", "green")])
def test_the_living_branch_is_what_the_export_names_else_the_newest(tmp_path: Path, current: str, answer: str) -> None:
    store = Store(tmp_path)
    report = store.twice(written(tmp_path / "conversations.json", [branched(current)]))
    assert report.messages_new == 4
    assert store.live()["chatgpt:c1"][1] == ("assistant", answer)


def test_a_later_export_moves_to_another_branch(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for current, last in (("c1", "thanks"), ("b2", "black"), ("c1", "thanks")):
        store.twice(written(tmp_path / "conversations.json", [branched(current)]))
        assert store.live()["chatgpt:c1"][-1][1] == last


def test_what_has_no_title_and_no_time_is_called_by_its_first_words(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", [talk(node("a", None, "user", "Peanuts  no"), title=None, create_time=None)])
    (chunk,) = chunks("chatgpt", path)
    assert chunk.title == "“Peanuts no”"
    assert not chunk.messages[0].timestamp.startswith("1970")
    assert "no time" in chunk.problems[0].reason


def test_parts_calls_and_hidden_messages(tmp_path: Path) -> None:
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://1"}
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    path = written(
        tmp_path / "x.json",
        talk(
            node("s", None, "system", ""),
            node("h", "s", "user", "profile", 1770000000.0, **hidden),
            node("q", "h", "user", ["看图", picture, {"content_type": "text", "text": "why?"}], 1770000001.0),
            node("call", "q", "assistant", "search(tea)", 1770000002.0, recipient="browser"),
            node("out", "call", "tool", "result", 1770000003.0),
            node("end", "out", "assistant", "because", 1770000004.0),
        ),
    )
    assert told("chatgpt", path) == [
        ("system", "profile"),
        ("user", "看图\n[image]\nwhy?"),
        ("assistant", ""),
        ("tool", "result"),
        ("assistant", "because"),
    ]
    _, _, call, result, end = messages("chatgpt", path)
    assert call.tool_calls[0].name == "browser"
    assert result.tool_call_id == call.tool_calls[0].id
    assert end.parent == result.uid


def test_numbered_files_and_the_zip_are_the_same_talks(tmp_path: Path) -> None:
    first, second = [talk(node("a", None, "user", "one"))], [talk(node("b", None, "user", "two"), key="c2")]
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("conversations-000.json", json.dumps(first))
        archive.writestr("conversations-001.json", json.dumps(second))
        archive.writestr("user.json", "{}")
    written(tmp_path / "parts" / "conversations-000.json", first)
    written(tmp_path / "parts" / "conversations-001.json", second)
    assert format_of(tmp_path / "export.zip") == "chatgpt"
    store = Store(tmp_path)
    assert store.twice(tmp_path / "export.zip").messages_new == 2
    report = store.once(tmp_path / "parts")
    assert (report.sessions, report.messages_new, report.messages_known) == (2, 0, 2)


def test_an_empty_talk_is_skipped_with_its_reason_and_a_broken_one_costs_itself(tmp_path: Path) -> None:
    good = json.dumps(talk(node("a", None, "user", "kept")))
    path = written(tmp_path / "x.json", f'[{{"title": "空", "mapping": {{}}}},\n{{"mapping": "\\q"}},\n{good}]')
    assert told("chatgpt", path) == [("user", "kept")]
    found = reasons("chatgpt", path)
    assert (found[0][0], "空" in found[0][1]) == (1, True)
    assert (found[1][0], "not JSON" in found[1][1]) == (2, True)


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", talk(node("a", "b", "user", "one"), node("b", "a", "assistant", "two")))
    assert sorted(text for _, text in told("chatgpt", path)) == ["one", "two"]


def test_a_talk_of_our_own_helper_is_left_out_and_no_other(tmp_path: Path) -> None:
    own = talk(node("a", None, "user", f"{HELPER_MARKER} distil this"))
    path = written(tmp_path / "x.json", [own, talk(node("b", None, "user", "kept"), key="c2")])
    store = Store(tmp_path)
    store.twice(path)
    assert store.live() == {"chatgpt:c2": [("user", "kept")]}
