"""Damaged and enormous transcripts, records of any shape, and reading in any steps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.clients import lines
from catmem.clients.port import START, Position
from catmem.domain.errors import BadInput, StorageFailed
from tests.clients.claude_code.reading import READER, read, uids
from tests.clients.talk import Talk


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
