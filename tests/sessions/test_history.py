from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from catmem.domain.errors import BadInput, LockBusy, NotFound, StorageFailed
from catmem.domain.message import ToolCall
from catmem.domain.session import SessionRef
from catmem.sessions.locks import session_lock
from tests.sessions.support import KEY, REF, history_in, message, place_in


def test_what_is_appended_is_read_back_with_ids(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    sent = [
        message(1, "以后都用 pnpm\u2028\x85\v"),
        message(2, "好", tool_calls=(ToolCall("c", "Bash", '{"a":1}'),), usage={"input_tokens": 3}, parent="u1"),
    ]
    done = history.append(REF, sent, cwd="/w", client="claude-code", title="包管理")
    assert done.new == tuple(m.numbered(n, KEY) for n, m in enumerate(sent, 1)) and done.known == 0
    assert history.messages(REF) == list(done.new)
    again = history.append(REF, sent)
    assert again.new == () and again.known == 2
    (header,) = history.headers()
    assert (header.ref, header.title, header.metadata["client"]) == (REF, "包管理", "claude-code")


def test_texts_pass_the_door(tmp_path: Path) -> None:
    history = history_in(tmp_path, redact=lambda text, source: text.replace("s3cret", f"[{source}]"))
    private = "全部 <private>hide me 藏起来</private>"
    history.append(
        REF, [message(1, private), message(2, "s3cret")], title="s3cret", marks=[{"mark": "title", "value": "x s3cret"}]
    )
    data = b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    assert b"s3cret" not in data and b"hide me" not in data and "藏起来".encode() not in data
    assert [m.content for m in history.messages(REF)] == ["全部 ", "[said]"]


def test_only_the_living_branch_is_read_as_the_talk(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    talk = [message(1), message(2, parent="u1"), message(3, "dead", parent="u2"), message(5, "alive", parent="u2")]
    history.append(REF, talk)
    assert [m.uid for m in history.messages(REF)] == ["u1", "u2", "u5"]
    history.append(REF, [], marks=[{"mark": "leaf", "uid": "u3"}])
    assert [m.uid for m in history.messages(REF)] == ["u1", "u2", "u3"]
    assert len(history.read(REF).messages) == 4


def test_marks(tmp_path: Path) -> None:
    history = history_in(tmp_path, clock=lambda: 1767583930.285)
    assert history.marks(REF, "source") == [] and history.last_mark(REF, "source") is None
    for offset in (10, 20, 20):
        history.append(REF, [message(offset)], marks=[{"mark": "source", "path": "/t", "offset": offset}])
    assert [mark["offset"] for mark in history.marks(REF, "source")] == [10, 20]
    last = history.last_mark(REF, "source")
    assert last and last["offset"] == 20 and last["timestamp"] == "2026-01-05T03:32:10.285Z"


def test_finding_a_session_by_what_a_user_types(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    for project, key in (("p", "claude-code:6f1c-aaaa"), ("p", "codex:6f1c-bbbb"), ("q", "claude-code:6f1c-aaaa")):
        history.append(SessionRef(project, key), [message(1)])
    assert history.find("codex:6f1c-bbbb") == history.find("6f1c-bbbb") == history.find("bbbb")
    assert history.find("claude-code:6f1c-aaaa", "q") == SessionRef("q", "claude-code:6f1c-aaaa")
    assert history.find("6f1c-aa", "p") == SessionRef("p", "claude-code:6f1c-aaaa")
    with pytest.raises(BadInput, match="--project"):
        history.find("6f1c-aaaa")
    with pytest.raises(BadInput) as caught:
        history.find("6f1c", "p")
    assert "codex:6f1c-bbbb" in caught.value.zh
    for wrong in ("9999", "bb", "", "忆"):
        with pytest.raises(NotFound):
            history.find(wrong)


def test_a_session_that_is_not_there(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    for ask in (history.read, history.messages, history.delete, history.check, history.repair):
        with pytest.raises(NotFound):
            ask(REF)
    assert history.purge(REF, "x") == 0 and not history.exists(REF)


def test_messages_that_could_not_be_written_leave_a_gap_that_check_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history = history_in(tmp_path)
    history.append(REF, [message(1)])

    def fail(*args: Any, **named: Any) -> None:
        raise StorageFailed("disk full", "磁盘已满")

    with monkeypatch.context() as broken:
        broken.setattr("catmem.sessions.file.append", fail)
        for n in range(2, 8):
            with pytest.raises(StorageFailed):
                history.append(REF, [message(n)])
    # 2 and 3 are repeated by their writer, the others never come.
    assert [m.id for m in history.append(REF, [message(2), message(3), message(8)]).new] == [6, 7, 8]
    (finding,) = history.check(REF)
    assert (finding.problem, finding.first_id, finding.last_id) == ("ids-missing", 2, 5)
    assert history.repair(REF) == ["lost"] and history.check(REF) == []
    assert [m.id for m in history.append(REF, [message(9)]).new] == [9]


def test_a_batch_that_is_repeated_after_an_error_is_there_once(tmp_path: Path) -> None:
    history = history_in(tmp_path)
    history.append(REF, [message(1)])
    waiting = [message(2), message(3)]
    with session_lock(place_in(tmp_path).lock), pytest.MonkeyPatch.context() as patched:
        patched.setattr("catmem.sessions.locks._take", _busy)
        with pytest.raises(LockBusy):
            history.append(REF, waiting)
    for _ in range(10):
        history.append(REF, waiting)
    assert [m.id for m in history.messages(REF)] == [1, 2, 3] and history.check(REF) == []


def _busy(*args: Any) -> None:
    raise LockBusy("busy", "忙")


def test_a_key_too_long_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        history_in(tmp_path).append(SessionRef("p", "x" * 20_000), [message(1)])
