from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from catmem.domain.session import SessionRef
from catmem.sessions.digests import add_digest, forget, read_digests
from catmem.settings.paths import Paths
from tests.sessions.long import NOW, put, talk
from tests.sessions.support import REF, history_in, place_in

OTHER = SessionRef("webshop", "codex:2")


def file_in(root: Path) -> Path:
    return root / "projects" / "webshop" / "memory" / "history.jsonl"


def test_a_digest_is_added_once_and_cursors_rise(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    assert [add_digest(paths, REF, 1, 9, "部署 by docker", NOW) for _ in range(3)] == [1, 1, 1]
    assert add_digest(paths, REF, 10, 20, "两行\u2028one", NOW) == 2 and add_digest(paths, OTHER, 1, 9, "x", NOW) == 3
    assert [d["content"] for d in read_digests(paths, "webshop")] == ["部署 by docker", "两行\u2028one", "x"]
    assert set(json.loads(file_in(tmp_path).read_bytes().split(b"\n")[0])) == {
        "cursor", "at", "session", "first_id", "last_id", "content",
    }  # fmt: skip
    assert read_digests(paths, "other") == []


@pytest.mark.parametrize("cursor", ["abc", "2026-01-01", True, -1, 0, 1.5, None, 2**60])
def test_a_cursor_that_is_none_stops_nothing(tmp_path: Path, cursor: Any) -> None:
    paths = Paths(tmp_path)
    add_digest(paths, REF, 1, 9, "one", NOW)
    with file_in(tmp_path).open("a") as file:
        line = {"cursor": cursor, "at": NOW, "session": "s", "first_id": 1, "last_id": 2, "content": "bad"}
        file.write(json.dumps(line) + '\n[]\n42\n\n{"cursor":\n{"torn')
    assert add_digest(paths, OTHER, 1, 9, "two", NOW) == 2
    assert [d["content"] for d in read_digests(paths, "webshop")] == ["one", "two"]
    assert b'"content": "bad"' in file_in(tmp_path).read_bytes()


@pytest.mark.parametrize("kept", [12, 40, -2])
def test_the_cursor_of_a_damaged_line_is_not_given_again(tmp_path: Path, kept: int) -> None:
    paths = Paths(tmp_path)
    for number in range(1, 13):
        add_digest(paths, REF, number, number, f"第 {number} 段", NOW)
    whole = file_in(tmp_path).read_bytes()
    last = whole.rindex(b"\n", 0, -1) + 1
    file_in(tmp_path).write_bytes(whole[:last] + whole[last:][:kept] + b"\x00\xff")
    assert add_digest(paths, REF, 12, 12, "made anew", NOW) == 13
    assert [d["cursor"] for d in read_digests(paths, "webshop")] == [*range(1, 12), 13]
    file_in(tmp_path).write_bytes(b'{"cursor":9,"content":"a hand was here"}\n')
    assert add_digest(paths, REF, 14, 15, "two", NOW) == 10


def test_what_is_forgotten_or_deleted_leaves_its_cursor(tmp_path: Path) -> None:
    paths, history = Paths(tmp_path), history_in(tmp_path)
    put(place_in(tmp_path), *talk(1))
    add_digest(paths, REF, 1, 4, "wifi 密码 is abc · then more", NOW)
    add_digest(paths, OTHER, 1, 4, "kept", NOW)
    assert forget(paths, "webshop", ["wifi 密码 is abc", " "]) == 1 and forget(paths, "webshop", ["nowhere"]) == 0
    assert "密码" not in file_in(tmp_path).read_text() and forget(paths, "none", ["x"]) == 0
    history.delete(REF)
    assert [(d["cursor"], d["content"]) for d in read_digests(paths, "webshop")] == [(1, ""), (2, "kept")]
    assert add_digest(paths, REF, 5, 6, "new", NOW) == 3
