from __future__ import annotations

from catmem.sessions.present import Present, newest_mark
from catmem.sessions.records import encode, mark_record
from tests.sessions.support import at, record


def lines(number: int) -> bytes:
    return b"".join(encode({**record(n, f'say "uid":"u{n + 1}" 忆'), "id": n}) for n in range(1, number + 1))


def test_few_and_many_are_found_alike() -> None:
    present = Present(lines(200))
    assert [n for n in range(300) if present.has(f"u{n}")] == list(range(1, 201))
    assert not present.has("") and present.has("u20")


def test_a_uid_in_a_text_or_a_mark_is_no_message() -> None:
    present = Present(lines(3) + encode(mark_record("leaf", at(1), uid="u9")))
    assert not present.has("u4") and not present.has("u9") and present.has("u3")
    present.add("u9")
    assert present.has("u9")


def test_uids_of_any_characters() -> None:
    for uid in ('a"b', "忆🐈", "\u2028", "a\\b", "x" * 3000):
        present = Present(lines(2) + encode({**record(5), "id": 5, "uid": uid}))
        assert present.has(uid) and not present.has(uid + "x")


def test_inheriting_is_for_messages_that_are_here_and_once() -> None:
    present = Present(lines(3) + encode(mark_record("inherited", at(1), uids=["u1", 5])))
    assert [uid for uid in ("u1", "u2", "u9", 5) if present.may_inherit(uid)] == ["u2"]
    present.add("u9")
    assert present.may_inherit("u9")


def test_the_newest_mark_of_a_name() -> None:
    data = encode(mark_record("source", at(1), offset=1)) + lines(2) + encode(mark_record("sources", at(3), offset=3))
    assert (newest_mark(data, "source") or {})["offset"] == 1
    assert newest_mark(data, "title") is None
    text = encode({**record(1, '\n{"mark":"title","value":"x"}'), "id": 1})
    assert newest_mark(text, "title") is None
    assert newest_mark(data[5:], "source") is None
