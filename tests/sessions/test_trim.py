from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.domain.errors import DataDamaged, LockBusy
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.overlap import in_both, mend_both
from catmem.sessions.pairing import INTERRUPTED, pair
from catmem.sessions.parts import Part
from catmem.sessions.reading import read_file
from catmem.sessions.records import message_to_record
from catmem.sessions.repair import check
from catmem.sessions.survey import survey
from catmem.sessions.trim import archive_all, archive_oldest, consolidate, part_messages, trim
from tests.sessions.damage import killed_at
from tests.sessions.long import (
    NOW,
    archived_lines,
    live_lines,
    put,
    read_uids,
    records_of,
    said,
    size,
    strictly_valid,
    talk,
    transcripts,
)
from tests.sessions.support import REF, at, history_in, place_in


def bounded(place: Place, most: int = 10, keep: int = 5) -> Any:
    """The whole way of a compaction whose summary succeeds at once."""
    part = archive_oldest(place, most, keep, NOW, turn_is_over=True)
    if isinstance(part, Part):
        consolidate(place, part, NOW)
        trim(place, NOW)
    return part


def test_the_oldest_whole_turns_leave_and_every_line_is_in_one_file(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(place, *talk(8))
    before, whole = live_lines(place), read_file(place)
    part = archive_oldest(place, 10, 6, NOW)
    assert part == Part(1, 24) and live_lines(place) == before and in_both(place, survey(place).records) == []
    assert [m.id for m in part_messages(place, part)] == list(range(1, 25))
    assert trim(place, NOW) == 0 and live_lines(place) == before, "without a summary nothing leaves"
    consolidate(place, part, NOW)
    assert trim(place, NOW) == 24
    live, archived = live_lines(place), archived_lines(place)
    assert set(live) == set(range(25, 33)) and not set(live) & set(archived) and {**archived, **live} == before
    after = read_file(place)
    assert after.messages == whole.messages
    assert after.header.last_consolidated == 24
    assert {**vars_of(after.header), "last_consolidated": 0} == vars_of(whole.header)
    assert check(place) == []


def vars_of(header: Any) -> dict[str, Any]:
    return {name: getattr(header, name) for name in header.__slots__}


def test_done_twice_it_does_nothing(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(place, *talk(8))
    bounded(place)
    files = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert bounded(place) == "nothing" and trim(place, NOW) == 0
    consolidate(place, Part(1, 24), NOW)
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == files


def test_a_session_goes_on_and_is_bounded_again(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(place, *talk(8))
    lines = live_lines(place)
    for round in range(1, 5):
        bounded(place)
        assert put(place, *talk(4, first=1000 * round))["new"][0] == max(lines) + 1
        lines |= live_lines(place)
    assert {**archived_lines(place), **live_lines(place)} == lines
    assert [m.id for m in read_file(place).messages] == sorted(lines) and check(place) == []
    assert size(place) < sum(map(len, lines.values()))
    assert read_file(place).header.count == len(lines)


def test_what_the_archive_has_is_known_to_an_import(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(place, *talk(8))
    bounded(place)
    assert put(place, *talk(8), whole_file_dedupe=True)["known"] == 32


def test_an_old_session_is_archived_whole_and_goes_on(tmp_path: Path) -> None:
    history, place = history_in(tmp_path), place_in(tmp_path)
    put(place, *talk(3), {"mark": "end", "timestamp": at(50), "reason": "clear"})
    before, lines = list(history.headers()), live_lines(place)
    assert archive_all(place, NOW) == 12 and archive_all(place, NOW) == 0
    assert live_lines(place) == {} and archived_lines(place) == lines
    assert list(history.headers()) == before and history.messages(REF)[3].content == "Because 连接 4."
    assert list(history_in(tmp_path).headers()) == before, "line 1 says it all"
    assert put(place, said(99, "user", "还在吗"))["new"] == [13]
    assert [m.id for m in history.messages(REF)] == list(range(1, 14)) and history.check(REF) == []
    assert archive_all(place, NOW) == 1 and read_file(place).header.metadata.get("ended") is None


def test_line_1_is_derived_from_a_trimmed_body(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(place, *talk(8))
    bounded(place)
    whole = Path(place.file).read_bytes()
    Path(place.file).write_bytes(whole[2048:])
    history = history_in(tmp_path)
    history.repair(REF)
    assert Path(place.file).read_bytes() == whole


def test_a_session_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(place, *talk(8))
    with session_lock(place.lock), pytest.raises(LockBusy):
        archive_oldest(place, 10, 5, NOW)


@pytest.mark.parametrize(
    "last", [[said(90, "user")], [said(90, "user"), said(91, "assistant", calls=["z"])], [*talk(1, 90)[:3]]]
)
def test_in_the_middle_of_a_turn_it_waits(tmp_path: Path, last: list[dict[str, Any]]) -> None:
    place = place_in(tmp_path)
    put(place, *talk(8), *last)
    assert archive_oldest(place, 10, 5, NOW) == "in use"
    assert not Path(place.archive).exists()
    assert isinstance(archive_oldest(place, 10, 5, NOW, turn_is_over=True), Part)


def test_one_turn_of_any_length_is_never_cut(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(place, said(1, "user"), *(said(n, "assistant") for n in range(2, 60)))
    assert bounded(place) == "nothing"


def test_a_purged_sentence_is_not_in_the_archive_either(tmp_path: Path) -> None:
    history, place = history_in(tmp_path), place_in(tmp_path)
    put(place, said(1, "user", "口令 is swordfish 🐈"), *talk(8, 2))
    bounded(place)
    assert history.purge(REF, "swordfish") == 1
    assert all(b"swordfish" not in line for line in archived_lines(place).values())
    assert history.messages(REF)[0].content == "口令 is  🐈" and history.check(REF) == []
    assert b"swordfish" not in Path(place.file).read_bytes()
    assert history.purge(REF, "swordfish") == 0


def test_a_deleted_session_leaves_no_archive_to_come_back_from(tmp_path: Path) -> None:
    history, place = history_in(tmp_path), place_in(tmp_path)
    put(place, *talk(8))
    bounded(place)
    history.delete(REF)
    assert not Path(place.archive).exists()
    put(place, said(1, "user"))
    assert read_uids(place) == ["u1"]


# -- properties


@given(transcripts(), st.integers(1, 40))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_transcript_cut_anywhere(
    tmp_path_factory: Any, no_disk_waits: None, transcript: list[dict[str, Any]], keep: int
) -> None:
    place = place_in(tmp_path_factory.mktemp("any"))
    put(place, *transcript, said(98, "user"), said(99, "assistant"))
    original = live_lines(place)
    bounded(place, most=1, keep=keep)
    live, archived = live_lines(place), archived_lines(place)
    both = {**archived, **live}
    assert not set(live) & set(archived) and original.items() <= both.items()
    added = records_of({id: line for id, line in both.items() if id not in original})
    assert all(record["kind"] == INTERRUPTED for record in added)
    if archived:
        for records in (records_of(archived), records_of(live)):
            alone = set(pair(records).orphans)
            paired = [record for place, record in enumerate(records) if place not in alone]
            if records[0]["id"] == 1:
                assert strictly_valid(paired)
        said_live = [r for r in records_of(live) if r["role"] != "system"]
        assert said_live[0]["role"] == "user"
        # What answers nothing here answered nothing before: no pair was parted.
        whole = pair(records_of(both))
        orphans = {sorted(both)[place] for place in whole.orphans}
        parted = [
            {r["id"] for n, r in enumerate(rs) if n in pair(rs).orphans}
            for rs in (records_of(archived), records_of(live))
        ]
        assert set().union(*parted) <= orphans
    sizes = {p: p.read_bytes() for p in Path(place.file).parent.rglob("*") if p.is_file()}
    archive_oldest(place, 1, keep, NOW, turn_is_over=True) if not archived else None
    put(place, said(100, "user"), said(101, "assistant"))
    bounded(place, most=1, keep=1)
    assert {**archived_lines(place), **live_lines(place)}.items() >= both.items()
    assert sizes and check(place) == []


EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 200), st.binary(max_size=30)), min_size=1, max_size=3)


@given(transcripts(), EDITS, EDITS, st.booleans())
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damage_anywhere_in_a_compacted_session(
    tmp_path_factory: Any,
    no_disk_waits: None,
    transcript: list[dict[str, Any]],
    live_edits: list[tuple[float, int, bytes]],
    archive_edits: list[tuple[float, int, bytes]],
    whole: bool,
) -> None:
    """What is left is word for word what was there, in one of the files; one repair puts all in order."""
    root = tmp_path_factory.mktemp("damage")
    place, history = place_in(root), history_in(root)
    put(place, said(90, "user"), *transcript, said(98, "user"), said(99, "assistant"))
    history.repair(REF)
    bounded(place, most=1, keep=6)
    lines = {**archived_lines(place), **live_lines(place)}
    damaged(Path(place.file), live_edits)
    intact = {id: line for id, line in live_lines(place).items() if lines.get(id) == line}
    if not whole and Path(place.archive).exists():
        damaged(Path(place.archive), archive_edits)
    history.read(REF)
    try:
        history.repair(REF)
    except DataDamaged:
        return  # nothing in it says any more that it is a session
    live, archived = live_lines(place), archived_lines(place)
    assert not set(live) & set(archived)
    assert intact.items() <= {**archived, **live}.items() and archived.items() <= lines.items()
    assert history.repair(REF) == [] and history.check(REF) == []
    assert strictly_valid([message_to_record(m) for m in history.messages(REF)])


def damaged(file: Path, edits: list[tuple[float, int, bytes]]) -> None:
    """Bytes taken out of a file and others put in their place."""
    data = file.read_bytes()
    for where, length, put_in in edits:
        start = int(where * len(data))
        data = data[:start] + put_in + data[start + length :]
    file.write_bytes(data)


def test_a_result_that_nobody_gave_is_written_once_and_goes_with_its_call(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(
        place,
        said(1, "user"),
        said(2, "assistant", calls=["a", "b", ""]),
        said(3, "tool", tool_call_id="a"),
        *talk(4, 4),
    )
    for _ in range(2):
        part = archive_oldest(place, 10, 8, NOW)
        assert isinstance(part, Part)
        given = [m for m in read_file(place).messages if m.kind == INTERRUPTED]
        assert [(m.uid, m.tool_call_id) for m in given] == [("interrupted:u2:1", "b"), ("interrupted:u2:2", "")]
    consolidate(place, part, NOW)
    trim(place, NOW)
    assert {m.id for m in given} == part.also <= set(archived_lines(place))
    assert strictly_valid(records_of(archived_lines(place))) and strictly_valid(records_of(live_lines(place)))
    bounded(place, most=4, keep=4)
    assert [m.uid for m in read_file(place).messages if m.kind == INTERRUPTED] == [m.uid for m in given]
    assert check(place) == []


def test_killed_at_every_step_each_line_is_live_or_archived(tmp_path: Path) -> None:
    step = 1
    while True:
        place = place_in(tmp_path / str(step))
        put(place, *talk(5), said(30, "user"), said(31, "assistant", calls=["z"]), *talk(3, 40))
        original, uids = live_lines(place), read_uids(place)
        killed = killed_at(step, lambda place=place: bounded(place, 10, 4))  # type: ignore[misc]
        assert [uid for uid in read_uids(place) if uid in uids] == uids, step
        assert original.items() <= {**archived_lines(place), **live_lines(place)}.items(), step
        assert next(iter(history_in(tmp_path / str(step)).headers())).count == len(uids), step
        mend_both(place, NOW)
        assert in_both(place, survey(place).records) == [] and check(place) == [], step
        bounded(place, 10, 4)
        live, archived = live_lines(place), archived_lines(place)
        assert not set(live) & set(archived) and original.items() <= {**archived, **live}.items(), step
        assert sum(uid.startswith("interrupted:") for uid in read_uids(place)) == 1
        if not killed:
            break
        step += 1
    assert step > 30
