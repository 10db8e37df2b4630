from __future__ import annotations

import copy
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from catmem.sessions import header as line1
from catmem.sessions.records import mark_record, stored
from tests.sessions.support import at, record


def body(number: int) -> list[dict[str, Any]]:
    return [{**record(n), "id": n} for n in range(1, number + 1)]


MARKS = st.sampled_from(
    [
        mark_record("title", at(50), value="部署 plan"),
        mark_record("consolidated", at(51), first_id=1, last_id=2),
        mark_record("end", at(52), reason="clear"),
        mark_record("purged", at(53), count=1),
        mark_record("inherited", at(54), uids=["u1"]),
        mark_record("listing", at(55), header={"metadata": {"project": "p", "cwd": "/w", "client": "c"}}),
        mark_record(
            "listing",
            at(56),
            header={
                "title": "T",
                "preview": "x",
                "updated_at": at(90),
                "last_consolidated": 4,
                "metadata": {"count": 9, "last_id": 9, "root": "r", "last_role": "user", "tag": [1]},
            },
        ),
        mark_record("listing", at(57), header={"metadata": {"count": True, "last_id": -1, "bytes": 5, "root": 3}}),
        mark_record("title", at(58), value=None),
        mark_record("unknown", "no time"),
    ]
)


def test_line_1_is_padded_checked_and_comes_back() -> None:
    header = line1.rebuild("k", body(3), "p")
    line = line1.pack(header, 5000, line1.ROOM)
    assert line and len(line) == 2048 and line.endswith(b" \n")
    found, fault = line1.unpack(line)
    assert fault == "" and found
    assert found["metadata"].pop("bytes") == 5000
    assert found == header
    assert list(json.loads(line)) == [
        "key",
        "title",
        "preview",
        "created_at",
        "updated_at",
        "last_consolidated",
        "metadata",
    ]


def test_what_line_1_says() -> None:
    header = line1.rebuild("k", body(3), "p")
    assert (header["created_at"], header["updated_at"]) == (at(1), at(3))
    assert header["preview"] == "好的，记住了 🐈"
    assert header["metadata"]["count"] == header["metadata"]["last_id"] == 3
    assert (header["metadata"]["root"], header["metadata"]["last_role"]) == ("u1", "user")


@given(st.lists(st.one_of(st.integers(1, 3), MARKS), max_size=12), st.integers(0, 12))
def test_advancing_piece_by_piece_is_rebuilding(steps: list[Any], cut: int) -> None:
    records: list[dict[str, Any]] = []
    for step in steps:
        last = sum("id" in r for r in records)
        records += (
            [{**record(last + n), "id": last + n} for n in range(1, step + 1)] if isinstance(step, int) else [step]
        )
    whole = line1.rebuild("k", copy.deepcopy(records))
    pieces = line1.rebuild("k", copy.deepcopy(records[:cut]))
    # A piece in between is written and read again.
    pieces["metadata"]["count"] = (
        max(0, pieces["metadata"]["count"]) if cut >= len(records) else pieces["metadata"]["count"]
    )
    line1.advance(pieces, copy.deepcopy(records[cut:]))
    assert line1.pack(pieces, 1, 8192) == line1.pack(whole, 1, 8192)
    line = line1.pack(whole, 1, 8192)
    assert line and line1.unpack(line)[1] == ""


@given(st.integers(0, 2046), st.integers(1, 255))
def test_a_flipped_byte_of_the_text_is_noticed(place: int, flip: int) -> None:
    line = line1.pack(line1.rebuild("k", body(3), "p"), 5000, line1.ROOM)
    assert line
    damaged = bytearray(line)
    damaged[place] ^= flip
    header, fault = line1.unpack(bytes(damaged))
    inside = place < len(line.rstrip())
    # Padding that is garbled hides the end of the text, so it is noticed too, unless it is white space still.
    assert fault if inside else (fault or header == line1.unpack(line)[0])


def test_wrong_values_are_no_header_even_with_a_right_checksum() -> None:
    for wrong in (999, True, "5", -1, None, 1.5, [1]):
        header = line1.rebuild("k", body(3), "p")
        header["last_consolidated"] = wrong
        line = line1.pack(header, 5000, line1.ROOM)
        assert line and line1.unpack(line)[0] is None and "last_consolidated" in line1.unpack(line)[1]
    for name in ("count", "last_id", "root", "project"):
        header = line1.rebuild("k", body(3), "p")
        line = line1.pack({**header, "metadata": {**header["metadata"], name: None, "count": 3}}, 5000, line1.ROOM)
        assert line and (name == "count" or line1.unpack(line)[0] is None)


def test_texts_give_way_before_the_room_does() -> None:
    header = line1.rebuild("k", [*body(1), mark_record("title", at(2), value="标题 🐈 title " * 40)], "p")
    header["metadata"]["cwd"] = "/w" * 500
    header["preview"] = "忆" * 200
    line = line1.pack(header, 10**9, line1.ROOM)
    assert line and len(line) == 2048
    found, _ = line1.unpack(line)
    assert found and len(found["title"]) > 50 and found["key"] == "k" and len(found["preview"]) < 200
    header["metadata"]["cwd"] = "/w" * 2000
    assert line1.pack(header, 10**9, line1.ROOM) is None
    room = line1.room_for(header)
    again = line1.pack(header, 10**9, room)
    assert room % line1.ROOM == 0 and again and len(again) == room


def test_a_long_title_is_cut_for_the_listing() -> None:
    header = line1.rebuild("k", [mark_record("title", at(2), value="👩‍👩‍👧" * 300)])
    assert 0 < len(header["title"]) <= line1.TITLE_LENGTH and len(header["title"]) % 5 == 0


def test_a_listing_without_messages_speaks_until_messages_come() -> None:
    listed = {"preview": "p", "last_consolidated": 5, "metadata": {"count": 7, "last_id": 9, "root": "r"}}
    header = line1.rebuild("k", [mark_record("listing", at(1), header=listed)])
    assert header["metadata"]["count"] == 7 and header["preview"] == "p" and header["last_consolidated"] == 5
    line1.advance(header, body(2))
    assert header["metadata"]["count"] == 2 and header["metadata"]["root"] == "u1" and header["last_consolidated"] == 0


def test_ended_holds_until_the_session_goes_on() -> None:
    header = line1.rebuild("k", [*body(2), mark_record("end", at(3))])
    assert line1.shown_metadata(header)["ended"] == at(3)
    line1.advance(header, [{**record(3), "id": 3}])
    assert "ended" not in header["metadata"]


def test_a_foreign_line_1_still_says_its_texts() -> None:
    assert line1.salvaged({"key": "k", "title": 3, "metadata": {"project": "p", "cwd": None}}) == {
        "key": "k",
        "project": "p",
    }
    assert line1.salvaged([]) == {} and stored(line1.salvaged({"metadata": 3})) == {}
