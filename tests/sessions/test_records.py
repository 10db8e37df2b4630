from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.message import Message, ToolCall
from catmem.sessions.reading import message_of
from catmem.sessions.records import (
    encode,
    mark_record,
    message_record,
    message_to_record,
    read_line,
    scan,
    stored,
)
from tests.sessions.support import at, record

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))
LINE_ENDS = "\u2028\u2029\u0085\v\f\x1c\x1d\x1e\r\n"


def lines_of(data: bytes) -> list[tuple[list[dict[str, Any]], str]]:
    return [([found for _, found in records], reason) for _, _, records, reason in scan(data)]


@given(ANY_TEXT)
def test_any_text_is_one_line_and_comes_back_clean(text: str) -> None:
    line = encode({**record(1, text), "id": 1})
    assert line.endswith(b"\n") and len(line.decode().splitlines()) == 1
    (found,), reason = lines_of(line)[0]
    assert reason == "" and found["content"] == stored(text)
    found["content"].encode()


def test_every_line_end_there_is_round_trips() -> None:
    text = f"忆{LINE_ENDS.join('ab忆')}🐈\x7f\x9b[2J"
    line = encode({**record(1, text), "id": 1})
    assert len(line.decode().splitlines()) == 1
    assert lines_of(line)[0][0][0]["content"] == text


def test_lone_surrogates_and_nul_are_replaced_and_pairs_joined_in_every_depth() -> None:
    calls = [{"id": "c", "name": "Bash\ud83d", "arguments": '{"a": ["\\ud83d", "\\ud83d\\udc08", "\\u0000"]}'}]
    found = stored(message_record("user", "a\ud83db \ud83d\udc08 \x00", at(1), tool_calls=calls))
    assert found["content"] == "a\ufffdb 🐈 \ufffd"
    call = found["toolCalls"][0]
    assert call["name"] == "Bash\ufffd" and json.loads(call["arguments"]) == {"a": ["\ufffd", "🐈", "\ufffd"]}


def test_arguments_stay_as_sent_where_they_are_sound() -> None:
    sent = '{ "command":  "echo \\u5fc6 \\ud83d\\udc08" }'
    assert stored({"arguments": sent}) == {"arguments": sent}
    assert stored({"arguments": "no json \\ud83d {"}) == {"arguments": "no json \\ud83d {"}


def test_what_json_does_not_know_is_stored_by_its_name() -> None:
    assert stored({"n": float("nan"), "i": float("inf"), 3: (1, None, True), "o": b"x"}) == {
        "n": None,
        "i": None,
        "3": [1, None, True],
        "o": "b'x'",
    }


def test_surrogates_that_are_on_disk_already_are_cleaned_when_loaded() -> None:
    line = b'{"id":1,"sessionKey":"k","role":"user","content":"a\\ud83d \\u0000","timestamp":""}\n'
    assert lines_of(line)[0][0][0]["content"] == "a\ufffd \ufffd"


def test_raw_control_characters_of_another_writer_cost_nothing() -> None:
    line = b'{"id":1,"sessionKey":"k","role":"user","content":"a\x1b\x0bb\tc","timestamp":""}\n'
    (found,), reason = lines_of(line)[0]
    assert found["content"] == "a\x1b\vb\tc" and reason == ""


def test_bom_crlf_blank_lines_and_nul_blocks_are_survived() -> None:
    one, two = encode({**record(1), "id": 1}), encode({**record(2), "id": 2})
    data = b"\xef\xbb\xbf" + one[:-1] + b"\r\n\r\n   \n" + b"\x00" * 4096 + two + b"\x00" * 10
    found = lines_of(data)
    assert [r["id"] for records, _ in found for r in records] == [1, 2]
    assert [reason for _, reason in found] == ["", "", "", "NUL bytes", "NUL bytes"]


def test_two_records_on_one_line_are_two_records() -> None:
    one, two = encode({**record(1), "id": 1}), encode({**record(2, '{"id":9,"sessionKey":"x"}'), "id": 2})
    found, reason = lines_of(one[:-1] + two)[0]
    assert [r["id"] for r in found] == [1, 2] and reason == "two records on one line"
    torn = one[:40] + two
    found, reason = lines_of(torn)[0]
    assert [r["id"] for r in found] == [2] and reason == "not JSON"


def test_a_record_inside_a_text_is_no_record() -> None:
    inner = encode({**record(7), "id": 7}).decode()
    line = encode({**record(1, inner), "id": 1})
    for cut in range(len(line)):
        assert [r for r in lines_of(line[:cut])[0][0] if r["id"] == 7] == [] if cut else True


@given(st.binary(max_size=400))
def test_no_bytes_raise(data: bytes) -> None:
    assert b"".join(raw for _, raw, _, _ in scan(data)) == data


def test_hostile_lines_are_damage_and_no_more() -> None:
    for raw in (
        b"[" * 100_000,
        b'{"id":' + b"9" * 5000 + b',"sessionKey":"k"}',
        b'{"id":true,"sessionKey":"k","role":"user","content":"","timestamp":""}',
        b'{"id":-1,"sessionKey":"k","role":"user","content":"","timestamp":""}',
        b'{"id":1,"sessionKey":"k","role":"king","content":"","timestamp":""}',
        b'{"id":1,"sessionKey":"k","role":"user","content":null,"timestamp":""}',
        b"null",
        b'"text"',
        b'{"mark":3}',
        b'{"id":1,"sessionKey":"",' * 5000,
    ):
        records, reason = read_line(raw)
        assert records == [] and reason


def test_records_and_messages_are_the_same_thing() -> None:
    sent = Message(
        "assistant",
        "好 🐈",
        at(3),
        "u3",
        7,
        "k",
        "u2",
        "notice",
        (ToolCall("c1", "Bash", '{"command":"ls"}'),),
        "c0",
        {"input_tokens": 3},
    )
    made = message_to_record(sent)
    assert list(made)[:5] == ["id", "sessionKey", "role", "content", "timestamp"]
    assert message_of(json.loads(encode(made))) == sent
    assert mark_record("end", at(1), key="k", reason="clear") == {
        "mark": "end",
        "sessionKey": "k",
        "timestamp": at(1),
        "reason": "clear",
    }
