"""Calls that were broken off: one result each, written down once, and never in the way of the true one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.domain.clock import seconds_of, stamp
from catmem.domain.errors import NotFound
from catmem.sessions.adoption import adopt
from catmem.sessions.branches import own_header, own_messages
from catmem.sessions.history import History
from catmem.sessions.locks import session_lock
from catmem.sessions.parts import Part
from catmem.sessions.records import INTERRUPTED, header_record, message_to_record
from catmem.sessions.trim import archive_oldest, consolidate, trim
from tests.sessions.long import (
    NOW,
    archived_lines,
    live_lines,
    put,
    said,
    strictly_valid,
    talk,
    transcripts,
)
from tests.sessions.support import REF, at, history_in, place_in

MINUTE = 60.0


def later(root: Path, minutes: float = 10**5) -> History:
    """The history as it is so many minutes after the first message."""
    return history_in(root, clock=lambda: seconds_of(at(0)) + minutes * MINUTE)


def broken_off(root: Path, *more: dict[str, Any]) -> None:
    """A turn that was killed after three calls, when one of them had its result."""
    calls = said(2, "assistant", calls=["a", "b", ""])
    put(place_in(root), said(1, "user"), calls, said(3, "tool", tool_call_id="b"), *more)


def talk_of(history: History) -> list[tuple[str, str]]:
    return [(m.uid, m.tool_call_id) for m in history.messages(REF)]


def test_killed_between_a_call_and_its_results(tmp_path: Path) -> None:
    broken_off(tmp_path)
    history = later(tmp_path)
    (before,) = history.headers()
    assert [f.problem for f in history.check(REF)] == ["call-open"]
    assert history.settle(REF) == (2, 0)
    file = Path(place_in(tmp_path).file)
    written = file.read_bytes()
    assert talk_of(history) == [
        ("u1", ""),
        ("u2", ""),
        ("interrupted:u2:0", "a"),
        ("interrupted:u2:2", ""),
        ("u3", "b"),
    ]
    assert [m.kind for m in history.read(REF).messages][-2:] == [INTERRUPTED] * 2, "they are on the disk"
    assert history.settle(REF) == (0, 0) and history.check(REF) == [] and history.repair(REF) == []
    assert file.read_bytes() == written
    (after,) = history.headers()
    assert after.last_id == before.last_id + 2
    for name in ("count", "last_role"):
        assert after.metadata[name] == before.metadata[name], "nobody said them"
    assert after.updated_at == before.updated_at


def test_repair_finds_and_mends_it_too(tmp_path: Path) -> None:
    broken_off(tmp_path)
    assert later(tmp_path).repair(REF) == ["interrupted"]
    assert later(tmp_path).repair(REF) == []


@pytest.mark.parametrize(
    ("minutes", "more", "closed"),
    [
        (2, [], (0, 2)),
        (23 * 60, [], (0, 2)),
        (25 * 60, [], (2, 0)),
        (2, [said(4, "user", "继续")], (0, 2)),
        (20, [said(4, "user", "继续")], (2, 0)),
        (20, [said(4, "user"), said(5, "assistant", calls=["z"])], (2, 1)),
        (0, [{"mark": "end", "timestamp": at(4), "reason": "killed"}], (2, 0)),
    ],
)
def test_a_turn_that_may_go_on_is_left_alone(
    tmp_path: Path, minutes: float, more: list[dict[str, Any]], closed: tuple[int, int]
) -> None:
    broken_off(tmp_path, *more)
    assert later(tmp_path, minutes).settle(REF) == closed
    assert closed[0] or later(tmp_path, minutes).check(REF) == []


def test_an_import_without_times_is_over(tmp_path: Path) -> None:
    timeless = [{**record, "timestamp": ""} for record in (said(1, "user"), said(2, "assistant", calls=["a"]))]
    put(place_in(tmp_path), *timeless)
    assert later(tmp_path).settle(REF) == (1, 0) and later(tmp_path).settle(REF) == (0, 0)


def test_what_is_being_written_waits_and_what_is_not_there_is_told(tmp_path: Path) -> None:
    broken_off(tmp_path)
    with session_lock(place_in(tmp_path).lock):
        assert later(tmp_path).settle(REF) == (0, 1)
    with pytest.raises(NotFound):
        later(tmp_path / "other").settle(REF)


def test_a_true_result_that_comes_late_wins(tmp_path: Path) -> None:
    broken_off(tmp_path)
    history = later(tmp_path)
    history.settle(REF)
    put(place_in(tmp_path), said(9, "tool", "真的 done", tool_call_id="a"), said(10, "assistant"))
    assert talk_of(history) == [
        ("u1", ""),
        ("u2", ""),
        ("interrupted:u2:2", ""),
        ("u3", "b"),
        ("u9", "a"),
        ("u10", ""),
    ]
    assert "interrupted:u2:0" not in [m.uid for m in own_messages(history.read(REF))]
    assert history.settle(REF) == (0, 0) and history.check(REF) == []


def test_the_pair_goes_into_the_archive_together_and_a_true_result_still_wins(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    broken_off(tmp_path, *talk(4, 4))
    history = later(tmp_path)
    history.settle(REF)
    part = archive_oldest(place, 10, 8, NOW)
    assert isinstance(part, Part)
    consolidate(place, part, NOW)
    trim(place, NOW)
    uids = [m.uid for m in history.read(REF).messages if m.id in archived_lines(place)]
    assert {"u2", "interrupted:u2:0", "interrupted:u2:2"} <= set(uids)
    assert not any(b"interrupted:" in line for line in live_lines(place).values())
    assert history.settle(REF) == (0, 0) and history.check(REF) == []
    put(place, said(90, "tool", tool_call_id="a"), said(91, "assistant"))
    assert "interrupted:u2:0" not in dict(talk_of(history)) and ("u90", "a") in talk_of(history)
    assert history.check(REF) == []


def test_on_a_dead_branch_it_dies_with_its_call(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(
        place,
        said(1, "user"),
        said(2, "assistant", calls=["a"], parent="u1"),
        said(3, "assistant", "好 fine", parent="u1"),
        said(4, "user", parent="u3"),
    )
    history = later(tmp_path)
    assert history.settle(REF) == (1, 0)
    assert [m.uid for m in history.messages(REF)] == ["u1", "u3", "u4"]
    assert "interrupted:u2:0" in [m.uid for m in own_messages(history.read(REF))]


def test_a_fork_does_not_show_the_results_of_what_it_inherits(tmp_path: Path) -> None:
    inherited = {"mark": "inherited", "timestamp": at(5), "uids": ["u1", "u2", "u3"]}
    broken_off(tmp_path, said(4, "user"), said(5, "assistant"), inherited)
    history = later(tmp_path)
    history.settle(REF)
    assert [m.uid for m in own_messages(history.read(REF))] == ["u4", "u5"]
    assert [header.count for header in history.headers()] == [2]


@pytest.mark.parametrize("late", [False, True])
def test_an_export_taken_in_and_exported_again_is_the_same(tmp_path: Path, late: bool) -> None:
    broken_off(tmp_path / "a", said(4, "user"))
    here, there = later(tmp_path / "a"), later(tmp_path / "b")
    here.settle(REF)
    if late:
        put(place_in(tmp_path / "a"), said(9, "tool", tool_call_id="a"))
    exported = exported_of(here)
    for _ in range(2):
        adopt(there, *exported)
        assert exported_of(there) == exported and there.check(REF) == [] and there.settle(REF) == (0, 0)


def exported_of(history: History) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    content = history.read(REF)
    return header_record(own_header(content)), [message_to_record(m) for m in own_messages(content)]


@given(transcripts(), st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_transcript_killed_anywhere_and_read_on_later(
    tmp_path_factory: Any, no_disk_waits: None, transcript: list[dict[str, Any]], data: st.DataObject
) -> None:
    """Cut at a place, settled, and the rest read from the transcript after all; cut at another place, and so on."""
    root = tmp_path_factory.mktemp("cut")
    place, history = place_in(root), later(root)
    put(place, said(100, "user"))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(transcript)), max_size=4)) | {len(transcript)})
    for start, stop in zip([0, *cuts], cuts, strict=False):
        put(place, *transcript[start:stop])
        history.repair(REF)
        kept = [message_to_record(m) for m in history.messages(REF)]
        assert strictly_valid(kept) and kept[0]["role"] == "user"
        behind_their_calls(kept)
        assert history.settle(REF) == (0, 0) and history.repair(REF) == [] and history.check(REF) == []
    # Whatever was written down on the way, the end is that of a transcript that was never cut.
    other = tmp_path_factory.mktemp("whole")
    put(place_in(other), said(100, "user"), *transcript)
    later(other).repair(REF)
    assert [m.uid for m in history.messages(REF)] == [m.uid for m in later(other).messages(REF)]


def behind_their_calls(messages: list[dict[str, Any]]) -> None:
    """Our results follow their call with nothing between but other results."""
    for n, message in enumerate(messages):
        if message.get("kind") == INTERRUPTED:
            before = next(m for m in reversed(messages[:n]) if m["role"] != "tool")
            assert message["uid"].rpartition(":")[0] == f"interrupted:{before['uid']}"


def test_the_clock_of_these_tests_is_after_every_message() -> None:
    assert stamp(seconds_of(at(0)) + 10**5 * MINUTE) > at(10**4)
