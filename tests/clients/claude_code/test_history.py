from __future__ import annotations

import json
from pathlib import Path

import pytest

from catmem.domain.session import live_path
from tests.clients.claude_code.reading import READER, read, told, uids
from tests.clients.talk import SESSION, Talk


def test_a_plain_talk(tmp_path: Path) -> None:
    talk = Talk().user("u1", "茶壶几点响？").says("a1", "At 7.").user("u2", "make it 8\n")
    chunk = read(talk.write(tmp_path))
    assert told(chunk.messages) == [("user", "茶壶几点响？"), ("assistant", "At 7."), ("user", "make it 8\n")]
    assert [m.parent for m in chunk.messages] == ["", "u1", "a1"]
    assert chunk.session == f"claude-code:{SESSION}"
    assert chunk.cwd == "/home/kim/teapot"
    assert chunk.messages[0].timestamp == "2026-03-01T10:01:00.000Z"
    assert chunk.marks == ({"mark": "leaf", "uid": "u2"},)
    assert chunk.at_end and not chunk.problems


def test_one_reply_on_several_lines_is_one_message(tmp_path: Path) -> None:
    talk = Talk().user("u1", "check both")
    talk.says("a1", [{"type": "thinking", "thinking": "hm"}], "r1").says("a2", "Two calls.", "r1")
    talk.calls("a3", "t1", reply="r1", command="ls").result("x1", "t1", "one", parent="a3")
    talk.calls("a4", "t2", reply="r1", command="pwd").result("x2", "t2", "two", parent="a4")
    talk.says("a5", "Done.", "r2")
    chunk = read(talk.write(tmp_path))
    assert uids(chunk.messages) == ["u1", "a1", "x1", "x2", "a5"]
    reply = chunk.messages[1]
    assert reply.content == "Two calls."
    assert [(c.id, c.name, json.loads(c.arguments)) for c in reply.tool_calls] == [
        ("t1", "Bash", {"command": "ls"}),
        ("t2", "Bash", {"command": "pwd"}),
    ]
    assert reply.usage == {"input_tokens": 7, "output_tokens": 3}
    assert [(m.role, m.tool_call_id, m.parent) for m in chunk.messages[2:4]] == [
        ("tool", "t1", "a1"),
        ("tool", "t2", "a1"),
    ]
    assert chunk.messages[4].parent == "x2"


def test_flags_say_what_was_not_typed(tmp_path: Path) -> None:
    talk = Talk().user("m1", "Base directory for this skill: /x", isMeta=True, sourceToolUseID="t")
    talk.user("m2", "Stop hook feedback:\nrun the tests", isMeta=True)
    talk.user("m3", "Implement the following plan:\n\n# Plan", planContent="# Plan")
    talk.user("m4", "a teammate writes", origin={"kind": "peer"})
    talk.user("s1", "search for the kettle", isSidechain=True, parent=None)
    talk.says("s2", "found it", isSidechain=True)
    talk.line(
        "assistant",
        "e1",
        message={"role": "assistant", "content": [{"type": "text", "text": "API Error: 529"}]},
        isApiErrorMessage=True,
        parent="m4",
    )
    talk.user("u1", "真正输入的话", origin={"kind": "human"})
    chunk = read(talk.write(tmp_path))
    assert [(m.uid, m.role, m.kind) for m in chunk.messages] == [
        ("m1", "system", "command"),
        ("m2", "system", "notice"),
        ("m3", "system", "notice"),
        ("m4", "system", "notice"),
        ("s1", "system", "agent"),
        ("s2", "system", "agent"),
        ("e1", "system", "notice"),
        ("u1", "user", ""),
    ]


def test_hook_context_and_reminders_are_not_kept_at_all(tmp_path: Path) -> None:
    talk = Talk().user(
        "u1",
        [
            {"type": "text", "text": "<system-reminder>\nhook context: MEMO\n</system-reminder>"},
            {"type": "text", "text": "start it"},
        ],
    )
    talk.line("attachment", "h1", attachment={"type": "hook_additional_context", "content": ["MEMO"]})
    talk.user("m1", "<system-reminder>MEMO</system-reminder>", isMeta=True)
    talk.calls("a1", "t1", command="x").result("x1", "t1", "ok\n\n<system-reminder>MEMO</system-reminder>")
    talk.calls("a2", "t2", name="mcp__catmem__recall", query="x").result("x2", "t2", "MEMO")
    chunk = read(talk.write(tmp_path))
    assert "MEMO" not in repr(chunk.messages)
    assert [(m.uid, m.parent) for m in chunk.messages] == [
        ("u1", ""),
        ("a1", "u1"),
        ("x1", "a1"),
        ("a2", "x1"),
        ("x2", "a2"),
    ]
    assert chunk.messages[2].content == "ok"


def test_a_rewind_leaves_a_dead_branch(tmp_path: Path) -> None:
    talk = Talk().user("u1", "选颜色").says("a1", "which?").user("u2", "red").says("a2", "ok red")
    talk.line("system", "n1", subtype="turn_duration", content=None, parent="a1")
    talk.user("u3", "green").says("a3", "ok green").note("last-prompt", lastPrompt="green", leafUuid="a3")
    chunk = read(talk.write(tmp_path))
    assert chunk.marks[-1] == {"mark": "leaf", "uid": "a3"}
    assert [m.uid for m in live_path(chunk.messages, "a3")] == ["u1", "a1", "u3", "a3"]


def test_a_leaf_before_the_end_is_not_the_leaf(tmp_path: Path) -> None:
    talk = Talk().user("u1", "a").says("a1", "b").note("last-prompt", leafUuid="a1").user("u2", "c").says("a2", "d")
    assert read(talk.write(tmp_path)).marks == ({"mark": "leaf", "uid": "a2"},)


def test_a_compaction_keeps_the_order_of_the_talk(tmp_path: Path) -> None:
    talk = Talk().user("u1", "one").says("a1", "first").user("u2", "two")
    meta = {"trigger": "auto", "preservedMessages": {"anchorUuid": "cs", "uuids": ["u2", "a2"]}}
    talk.line(
        "system",
        "cb",
        subtype="compact_boundary",
        content="x",
        parent=None,
        logicalParentUuid="a2",
        compactMetadata=meta,
        minute=30,
    )
    talk.user("cs", "This session is being continued. The user likes tea.", isCompactSummary=True, minute=31)
    talk.says("a2", "second", minute=4).user("u3", "three", minute=40)
    chunk = read(talk.write(tmp_path))
    assert [m.uid for m in chunk.messages if m.role != "system"] == ["u1", "a1", "u2", "a2", "u3"]
    summary = next(m for m in chunk.messages if m.uid == "cs")
    assert (summary.role, summary.kind) == ("system", "summary")
    assert [m.uid for m in live_path(chunk.messages, "u3") if m.role != "system"] == ["u1", "a1", "u2", "a2", "u3"]


def test_a_kept_line_that_is_not_listed_follows_what_was_before(tmp_path: Path) -> None:
    talk = Talk().user("u1", "one").says("a1", "first")
    talk.line("system", "cb", subtype="compact_boundary", parent=None, logicalParentUuid="gone", minute=30)
    talk.user("cs", "summary", isCompactSummary=True, minute=31)
    talk.user("u2", "kept", minute=3).user("u3", "new", parent="u2", minute=40)
    chunk = read(talk.write(tmp_path))
    assert [(m.uid, m.parent) for m in chunk.messages if m.role == "user"] == [("u1", ""), ("u2", "a1"), ("u3", "u2")]


def test_a_reply_written_before_its_question_follows_it(tmp_path: Path) -> None:
    talk = Talk().says("a1", "hello back", parent="h1", minute=2)
    talk.line("attachment", "h0", attachment={}, parent=None).user("u1", "hello").line(
        "attachment", "h1", attachment={}
    )
    assert uids(read(talk.write(tmp_path)).messages) == ["u1", "a1"]


class TestWordsTypedAhead:
    def test_folded_into_the_turn_they_are_kept(self, tmp_path: Path) -> None:
        talk = Talk().user("u1", "go").queue("enqueue", 2, "不要动数据库").queue("remove", 3).says("a1", "ok")
        chunk = read(talk.write(tmp_path))
        assert told(chunk.messages) == [("user", "go"), ("user", "不要动数据库"), ("assistant", "ok")]

    def test_removed_with_their_text_they_are_kept(self, tmp_path: Path) -> None:
        talk = Talk().user("u1", "go").queue("remove", 3, "parser first").says("a1", "ok")
        assert ("user", "parser first") in told(read(talk.write(tmp_path)).messages)

    @pytest.mark.parametrize("attachment_first", [True, False])
    def test_with_a_line_of_their_own_they_are_one_message(self, tmp_path: Path, attachment_first: bool) -> None:
        talk = Talk().user("u1", "go", minute=1).queue("enqueue", 2, "parser first")
        attachment = {"type": "queued_command", "prompt": "parser first", "commandMode": "prompt"}
        if attachment_first:
            talk.line("attachment", "q1", attachment=attachment, minute=3).queue("remove", 3)
        else:
            talk.queue("remove", 3).line("attachment", "q1", attachment=attachment, minute=3)
        chunk = read(talk.write(tmp_path))
        assert [(m.uid, m.content) for m in chunk.messages] == [("u1", "go"), ("q1", "parser first")]

    def test_sent_they_are_the_line_that_follows(self, tmp_path: Path) -> None:
        talk = Talk().queue("enqueue", 1, "say tea\n").queue("dequeue", 1).user("u1", "say tea")
        assert uids(read(talk.write(tmp_path)).messages) == ["u1"]

    def test_taken_back_they_were_not_said(self, tmp_path: Path) -> None:
        talk = Talk().user("u1", "go").queue("enqueue", 2, "never mind").queue("popAll", 3).says("a1", "ok")
        assert uids(read(talk.write(tmp_path)).messages) == ["u1", "a1"]

    def test_never_sent_they_count_once_the_session_is_over(self, tmp_path: Path) -> None:
        path = Talk().user("u1", "go").queue("enqueue", 2, "and tea").write(tmp_path)
        waiting = read(path, final=False)
        assert told(waiting.messages) == [("user", "go")]
        assert waiting.position.waiting
        assert told(read(path).messages) == [("user", "go"), ("user", "and tea")]
        later = read(path, position=waiting.position)
        assert told(later.messages) == [("user", "and tea")]

    def test_a_command_or_a_notification_in_the_queue_is_no_message(self, tmp_path: Path) -> None:
        talk = Talk().user("u1", "go").queue("enqueue", 2, "/mcp").queue("remove", 2)
        talk.queue("enqueue", 3, "<task-notification>done</task-notification>").queue("remove", 3)
        assert uids(read(talk.write(tmp_path)).messages) == ["u1"]


def test_titles_by_rank(tmp_path: Path) -> None:
    talk = Talk().note("summary", summary="other file", leafUuid="zz").note("summary", summary="Tea", leafUuid="u1")
    talk.user("u1", "x")
    assert read(talk.write(tmp_path)).title == "Tea"
    talk.note("ai-title", aiTitle="Tea time")
    assert read(talk.write(tmp_path)).title == "Tea time"
    talk.note("custom-title", customTitle="下午茶").note("ai-title", aiTitle="Tea again")
    assert read(talk.write(tmp_path)).title == "下午茶"


def test_a_file_of_notes_only_is_no_session(tmp_path: Path) -> None:
    chunk = read(Talk().note("ai-title", aiTitle="x").note("mode", mode="normal").write(tmp_path))
    assert chunk.messages == () and chunk.marks == ()


def test_reading_on_finds_parents_in_the_part_read_before(tmp_path: Path) -> None:
    talk = Talk().user("u1", "one").says("a1", "thinking aloud", "r1").calls("a2", "t1", reply="r1", command="x")
    talk.result("x1", "t1", "out").says("a3", "done").line("attachment", "h1", attachment={})
    talk.line("system", "d1", subtype="turn_duration")
    path = talk.write(tmp_path)
    first = read(path)
    talk.user("u2", "again from the call", parent="a2").user("u3", "next", parent="d1")
    talk.write(tmp_path)
    second = read(path, position=first.position)
    assert [(m.uid, m.parent) for m in second.messages] == [("u2", "a1"), ("u3", "a3")]


def test_a_reply_that_goes_on_counts_its_usage_once(tmp_path: Path) -> None:
    talk = Talk().user("u1", "x").says("a1", "part one", "r1")
    path = talk.write(tmp_path)
    first = read(path)
    talk.says("a2", "part two", "r1").write(tmp_path)
    second = read(path, position=first.position)
    assert first.messages[1].usage and second.messages[0].usage is None
    assert second.messages[0].content == "part two"


def test_a_helper_of_ours_is_known_and_a_users_headless_run_is_not_one(tmp_path: Path) -> None:
    ours = (
        Talk().user("u1", "[memory-helper v1] List facts.", promptSource="sdk", entrypoint="sdk-cli").says("a1", "[]")
    )
    theirs = Talk().user("u1", "Summarise the log.", promptSource="sdk", entrypoint="sdk-cli").says("a1", "ok")
    assert read(ours.write(tmp_path)).helper
    assert not read(theirs.write(tmp_path)).helper


def test_the_session_is_the_files_name_or_what_its_lines_say(tmp_path: Path) -> None:
    copied = Talk("11111111-0000-4000-8000-000000000000").user("u1", "x")
    assert read(copied.write(tmp_path, f"{SESSION}.jsonl")).session == f"claude-code:{SESSION}"
    assert read(copied.write(tmp_path, "session.jsonl")).session == "claude-code:11111111-0000-4000-8000-000000000000"


def test_what_is_recognised() -> None:
    assert READER.recognises([{"type": "user", "uuid": "x"}])
    assert READER.recognises([{"type": "ai-title", "sessionId": "x"}])
    assert not READER.recognises([{"role": "user", "content": "x", "session": "s"}, 42, {"type": "message", "id": 1}])
