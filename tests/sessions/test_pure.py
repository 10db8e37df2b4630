"""The marks of sessions that were held in pure mode."""

from __future__ import annotations

from catmem.sessions import pure


def test_a_mark_stands_until_it_is_taken_away(tmp_path):
    root = str(tmp_path / "catmem")
    assert not pure.is_pure(root, "claude-code:1") and pure.pure_sessions(root) == []
    pure.set_pure(root, "claude-code:1", client="claude-code", transcript="/t/1.jsonl", at="2026-07-01T12:00:00.000Z")
    pure.set_pure(root, "claude-code:1", transcript="/elsewhere", at="2026-07-02T12:00:00.000Z")
    pure.set_pure(root, "codex:二", at="2026-06-01T12:00:00.000Z")
    assert [mark["key"] for mark in pure.pure_sessions(root)] == ["codex:二", "claude-code:1"]
    taken = pure.unset_pure(root, "claude-code:1")
    assert taken and (taken["client"], taken["transcript"]) == ("claude-code", "/t/1.jsonl")
    assert pure.unset_pure(root, "claude-code:1") is None and not pure.is_pure(root, "claude-code:1")


def test_keys_that_differ_in_case_have_marks_of_their_own(tmp_path):
    pure.set_pure(str(tmp_path), "codex:A")
    assert not pure.is_pure(str(tmp_path), "codex:a")


def test_a_garbled_mark_still_holds(tmp_path):
    pure.set_pure(str(tmp_path), "codex:1", transcript="/t")
    next((tmp_path / "pure").iterdir()).write_bytes(b"\x00not json")
    assert pure.is_pure(str(tmp_path), "codex:1") and pure.pure_sessions(str(tmp_path)) == []
    assert pure.unset_pure(str(tmp_path), "codex:1") == {"key": "codex:1", "client": "", "transcript": ""}


def test_what_asks_for_it():
    assert pure.is_pure_environment({"CATMEM_PURE": "1"}) and pure.is_pure_environment({"CATMEM_PURE": "yes"})
    assert not pure.is_pure_environment({}) and not pure.is_pure_environment({"CATMEM_PURE": "0"})
    assert not pure.is_pure_environment({"CATMEM_PURE": ""})
