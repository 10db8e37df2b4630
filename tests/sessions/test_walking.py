from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from catmem.domain.errors import NotFound
from catmem.sessions.archive import archived_lines
from catmem.sessions.file import append
from catmem.sessions.outline import outline
from catmem.sessions.reading import message_of, read_file
from catmem.sessions.records import encode, is_message, mark_record, message_record
from catmem.sessions.talk import talk as said_at_last
from catmem.sessions.trim import archive_oldest, consolidate, open_for_compaction, part_messages, trim
from catmem.sessions.walking import walk
from tests.sessions.bounded import fill, peak, small_blocks
from tests.sessions.long import NOW, put, talk
from tests.sessions.support import KEY, at, place_in


def test_it_reads_what_the_whole_says(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(place, *talk(6), mark_record("leaf", at(9), uid="u24"))
    part = archive_oldest(place, 10, 6, NOW)
    for step in (lambda: None, lambda: consolidate(place, part, NOW), lambda: trim(place, NOW)):  # type: ignore[arg-type]
        step()
        whole = read_file(place)
        assert [message_of(r, KEY) for r in walk(place) if is_message(r)] == list(whole.messages)
        assert [r for r in walk(place) if not is_message(r)] == list(whole.marks)


def test_damage_and_repeated_uids_cost_only_themselves(tmp_path: Path) -> None:
    place = place_in(tmp_path)
    put(place, *talk(1))
    twice = {**message_record("user", "again", at(5), key=KEY, uid="u1"), "id": 9}
    with Path(place.file).open("ab") as file:
        file.write(b'{"id":5,"role":\n' + encode(twice) + b"\x00\x00\n")
    Path(place.file).write_bytes(b"x" * 2047 + Path(place.file).read_bytes()[2047:])
    assert [r["uid"] for r in walk(place) if is_message(r)] == ["u1", "u2", "u3", "u4"]
    with pytest.raises(NotFound):
        list(walk(place_in(tmp_path / "other")))


@pytest.mark.parametrize("way", ["walk", "talk", "compaction", "import"])
def test_memory_does_not_grow_with_the_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, way: str) -> None:
    """Four times the session, and less than half as much again at the height."""
    small_blocks(monkeypatch)
    monkeypatch.setattr("catmem.sessions.trim.MOST_SUMMARISED", 50_000)
    monkeypatch.setattr("catmem.sessions.file._SEARCHED", 1 << 16)
    heights = []
    for turns in (20, 20, 80):  # the first warms up what is loaded once
        place = place_in(tmp_path / f"{len(heights)}")
        fill(place, turns)
        heights.append(peak(partial(_do, way, place)))
    assert heights[2] < 1.5 * heights[1]


def _do(way: str, place: Any) -> None:
    if way == "walk":
        assert sum(1 for _ in walk(place)) > 40
    elif way == "talk":
        assert sum(1 for _ in said_at_last(place)) >= 40
    elif way == "import":
        for number in range(3):
            record = message_record("user", "new", at(number), uid=f"n{number}")
            assert append(place, KEY, [record], whole_file_dedupe=True)["known"] == 0
            assert append(place, KEY, [record], whole_file_dedupe=True)["known"] == 1
    else:
        part = archive_oldest(place, 10, 5, NOW, turn_is_over=True)
        assert part_messages(place, part)
        consolidate(place, part, NOW)
        assert trim(place, NOW) == sum(1 for _ in archived_lines(place)) > 30
        with open_for_compaction(place) as session:
            assert len(outline(session).messages) < 8
