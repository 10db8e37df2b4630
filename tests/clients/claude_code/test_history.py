from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.clients import lines
from catmem.clients.claude_code.history import ClaudeCodeHistory
from catmem.clients.port import START, Position, TranscriptChunk
from catmem.domain.errors import BadInput, StorageFailed
from catmem.domain.message import Message
from catmem.domain.session import live_path
from tests.clients.talk import SESSION, Talk

READER = ClaudeCodeHistory()


def read(path: Path, **options: object) -> TranscriptChunk:
    (chunk,) = READER.chunks(path, **options)  # type: ignore[arg-type]
    return chunk


def told(messages: tuple[Message, ...]) -> list[tuple[str, str]]:
    return [(m.role, m.content) for m in messages]


def uids(messages: tuple[Message, ...]) -> list[str]:
    return [m.uid for m in messages]


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


class TestDamage:
    def test_a_cut_last_line_is_left_for_later(self, tmp_path: Path) -> None:
        whole = Talk().user("u1", "一").says("a1", "二").data()
        path = tmp_path / "s.jsonl"
        for cut in range(whole.index(b"\n") + 2, len(whole) - 1, 17):
            path.write_bytes(whole[:cut])
            first = read(path)
            assert first.position.offset == whole.index(b"\n") + 1
            assert [(p.line, p.reason[:19]) for p in first.problems] == [(2, "1 incomplete record")]
            path.write_bytes(whole)
            assert uids(read(path, position=first.position).messages) == ["a1"]

    def test_a_last_line_without_its_newline_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "s.jsonl"
        path.write_bytes(Talk().user("u1", "x").data().rstrip(b"\n"))
        chunk = read(path)
        assert uids(chunk.messages) == ["u1"] and not chunk.problems
        assert chunk.position.offset == path.stat().st_size

    def test_one_bad_line_costs_one_line(self, tmp_path: Path) -> None:
        talk = (
            Talk()
            .user("u1", "x")
            .raw(r'{"type":"user","uuid":"b","message":{"content":"\p"}}')
            .says("a1", "y")
            .raw("42")
        )
        chunk = read(talk.write(tmp_path))
        assert uids(chunk.messages) == ["u1", "a1"]
        assert [p.line for p in chunk.problems] == [2, 4]

    def test_two_records_on_one_line_are_two(self, tmp_path: Path) -> None:
        path = tmp_path / "s.jsonl"
        path.write_bytes(Talk().user("u1", "x").says("a1", "y").data().replace(b"}\n{", b"}{"))
        assert uids(read(path).messages) == ["u1", "a1"]

    def test_bom_crlf_nul_latin1_and_surrogates(self, tmp_path: Path) -> None:
        talk = Talk().user("u1", "bom").user("u2", "a\x00b").raw("\x00" * 64).raw("")
        talk.user("u3", "half \ud83d end").user("u4", "茶")
        data = talk.data().replace(b"\n", b"\r\n")
        text = json.dumps(
            {"type": "user", "uuid": "u5", "timestamp": "2026-03-01T11:00:00Z", "message": {"content": "caf#"}}
        )
        path = tmp_path / "s.jsonl"
        path.write_bytes(b"\xef\xbb\xbf" + data + text.encode().replace(b"#", b"\xe9") + b"\n")
        chunk = read(path)
        assert [m.content for m in chunk.messages][:2] == ["bom", "a\ufffdb"]
        assert [m.content for m in chunk.messages][3:] == ["茶", "caf\ufffd"]
        assert all(m.content.encode() for m in chunk.messages)
        assert [p.reason for p in chunk.problems] == ["65 NUL characters"] or "NUL" in chunk.problems[0].reason

    def test_a_pair_of_escapes_is_one_character(self, tmp_path: Path) -> None:
        path = tmp_path / "s.jsonl"
        line = rb'{"type":"user","uuid":"u1","timestamp":"2026-03-01T11:00:00Z","message":{"content":"\ud83d\ude00 \udcb2!"}}'
        path.write_bytes(line + b"\n")
        assert read(path).messages[0].content == "😀 \ufffd!"

    def test_utf16_is_refused_by_name(self, tmp_path: Path) -> None:
        path = tmp_path / "s.jsonl"
        path.write_bytes(Talk().user("u1", "x").data().decode().encode("utf-16"))
        with pytest.raises(BadInput, match="UTF-16"):
            read(path)

    def test_a_missing_file_is_a_storage_fault(self, tmp_path: Path) -> None:
        with pytest.raises(StorageFailed):
            read(tmp_path / "gone.jsonl")

    def test_a_time_that_is_missing_or_without_zone_is_flagged(self, tmp_path: Path) -> None:
        talk = Talk().user("u1", "x").user("u2", "y", timestamp=None).user("u3", "z", timestamp="2026-03-01T12:00:00")
        chunk = read(talk.write(tmp_path))
        assert chunk.messages[1].timestamp == chunk.messages[0].timestamp
        assert [p.line for p in chunk.problems] == [2, 3]

    def test_a_repeated_id_with_other_words_is_another_message(self, tmp_path: Path) -> None:
        talk = Talk().user("u1", "one").user("u1", "one").user("u1", "two")
        assert [m.content for m in read(talk.write(tmp_path)).messages] == ["one", "two"]


class TestBulk:
    def test_images_and_long_results_become_placeholders(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lines, "LONG_LINE", 100_000)
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUJD" * 700_000}}
        talk = Talk().user("u1", [image, {"type": "text", "text": "our logo"}])
        talk.calls("a1", "t1", command="x").result("x1", "t1", "行\n" * 300_000)
        talk.result("x2", "t2", [{"type": "text", "text": "shot"}, image])
        chunk = read(talk.write(tmp_path))
        assert chunk.messages[0].content == "[image/png, 2 MB]\nour logo"
        assert len(chunk.messages[2].content.encode()) <= 64 * 1024
        assert chunk.messages[2].content.endswith("bytes left out]")
        assert chunk.messages[3].content == "shot\n[image/png, 2 MB]"

    def test_long_arguments_stay_json(self, tmp_path: Path) -> None:
        talk = Talk().user("u1", "x").calls("a1", "t1", "Write", path="a.txt", content="字" * 50_000)
        arguments = json.loads(read(talk.write(tmp_path)).messages[1].tool_calls[0].arguments)
        assert arguments["path"] == "a.txt" and arguments["content"].endswith("bytes left out]")

    @pytest.mark.parametrize("limit", [1, 300, 1000, 3000, 10**9])
    def test_any_limit_gives_the_same_messages(self, tmp_path: Path, limit: int) -> None:
        talk = Talk()
        for turn in range(6):
            talk.user(f"u{turn}", f"step {turn} 第{turn}步").line("attachment", f"h{turn}", attachment={})
            talk.says(f"a{turn}", "looking", f"r{turn}").calls(f"b{turn}", f"t{turn}", reply=f"r{turn}", command="x")
            talk.result(f"x{turn}", f"t{turn}", "out").line("system", f"d{turn}", subtype="turn_duration")
        path = talk.write(tmp_path)
        whole = read(path)
        parts = list(READER.chunks(path, limit=limit))
        assert [m for part in parts for m in part.messages] == list(whole.messages)
        assert parts[-1].position.offset == path.stat().st_size
        assert [part.at_end for part in parts] == [False] * (len(parts) - 1) + [True]


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


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "id", "content", "input", "data", "source"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
FIELDS = [
    "type",
    "uuid",
    "parentUuid",
    "message",
    "timestamp",
    "content",
    "operation",
    "attachment",
    "subtype",
    "leafUuid",
    "isMeta",
    "compactMetadata",
    "logicalParentUuid",
    "origin",
]
KINDS = st.sampled_from(
    ["user", "assistant", "system", "attachment", "queue-operation", "summary", "last-prompt", "progress"]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(KINDS | JSON, st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6)), max_size=8))
def test_no_shape_of_record_raises(tmp_path: Path, rows: list[tuple[object, dict[str, object]]]) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps({**fields, "type": kind}) + "\n" for kind, fields in rows))
    chunk = read(path)
    assert len(set(uids(chunk.messages))) == len(chunk.messages)
    for message in chunk.messages:
        message.content.encode()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_reading_in_any_steps_gives_each_message_once(tmp_path: Path, data: st.DataObject) -> None:
    talk = Talk()
    for turn in range(data.draw(st.integers(1, 5))):
        talk.user(f"u{turn}", f"words {turn}").says(f"a{turn}", f"reply {turn}").line(
            "system", f"d{turn}", subtype="turn_duration"
        )
    whole = talk.data()
    path = tmp_path / "s.jsonl"
    position: Position = START
    found: list[str] = []
    for size in [*sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5))), len(whole)]:
        path.write_bytes(whole[:size])
        if size:
            chunk = read(path, position=position, final=False)
            position = chunk.position
            found += uids(chunk.messages)
    path.write_bytes(whole)
    assert found == uids(read(path).messages)
