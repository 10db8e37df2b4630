from __future__ import annotations

import json
from pathlib import Path

from catmem.domain.message import Message
from catmem.sessions.names import Place
from catmem.sessions.parts import Part
from catmem.sessions.quarantine import bytes_of, entries
from catmem.sessions.records import encode
from catmem.sessions.repair import check
from catmem.sessions.trim import archive_oldest, consolidate, trim
from tests.sessions.long import NOW, archived_lines, live_lines, put, talk
from tests.sessions.support import KEY, REF, history_in, message, place_in, record


def made(root: Path) -> tuple[Path, Place]:
    history_in(root).append(REF, [message(n) for n in range(1, 5)], title="部署")
    place = place_in(root)
    return Path(place.file), place


def test_a_sound_session_has_no_findings_and_is_not_touched(tmp_path: Path) -> None:
    file, place = made(tmp_path)
    before = file.read_bytes()
    assert check(place) == [] and history_in(tmp_path).repair(REF) == []
    assert file.read_bytes() == before


def test_damage_of_every_kind_is_found_and_put_right_and_kept(tmp_path: Path) -> None:
    file, place = made(tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    bad = b'{"id":2,"sess\xff\n'
    file.write_bytes(b"".join([b"#" * 2047 + b"\n", *lines[1:4], bad, *lines[5:], b'{"id":5,"sessionKey"']))
    problems = [(f.problem, f.first_id) for f in check(place)]
    assert problems == [("line1", 0), ("line", 0), ("line", 0), ("ids-missing", 2)]
    history = history_in(tmp_path)
    assert history.repair(REF) == ["line1", "tail", "layout", "lines", "lost"]
    assert check(place) == [] and history.repair(REF) == []
    assert [m.id for m in history.messages(REF)] == [1, 3, 4]
    kept = [bytes_of(entry) for entry in entries(place.quarantine)]
    assert bad in kept and b'{"id":5,"sessionKey"' in kept and b"#" * 2047 + b"\n" in kept
    assert history.read(REF).header.title == "部署"


def test_a_line_1_that_contradicts_the_body_is_found(tmp_path: Path) -> None:
    file, place = made(tmp_path)
    from catmem.sessions import header as line1

    header, _ = line1.unpack(file.read_bytes()[: line1.ROOM])
    assert header
    header["metadata"]["count"] = 99
    line = line1.pack(header, file.stat().st_size, line1.ROOM)
    assert line
    file.write_bytes(line + file.read_bytes()[line1.ROOM :])
    assert [f.detail for f in check(place)] == ["line 1 differs from the body"]
    history = history_in(tmp_path)
    assert "line1" in history.repair(REF) and check(place) == []
    assert [h.count for h in history.headers()] == [4]


def test_line_1_deleted_comes_back_the_same(tmp_path: Path) -> None:
    file, place = made(tmp_path)
    before = file.read_bytes()
    file.write_bytes(before[2048:])
    assert [f.problem for f in check(place)] == ["line1"]
    assert history_in(tmp_path).repair(REF) == ["layout"]
    assert file.read_bytes() == before


def test_two_files_put_together_by_hand_get_ids_that_rise(tmp_path: Path) -> None:
    file, place = made(tmp_path)
    with file.open("ab") as end:
        end.write(encode({**record(9), "id": 2, "sessionKey": KEY}))
        end.write(encode({**record(10), "id": 1, "sessionKey": KEY}))
    history = history_in(tmp_path)
    first = {m.uid: m.id for m in history.messages(REF)[:4]}
    assert [(f.problem, f.first_id) for f in check(place)][1:] == [("ids-repeated", 2), ("ids-repeated", 1)]
    assert "renumbered" in history.repair(REF)
    assert {m.uid: m.id for m in history.messages(REF)} == {**first, "u9": 5, "u10": 6}
    (mark,) = history.marks(REF, "renumbered")
    assert mark["ids"] == [[2, 5], [1, 6]]
    assert check(place) == [] and history.repair(REF) == []


def test_a_result_without_its_call_is_written_down_once(tmp_path: Path) -> None:
    _, place = made(tmp_path)
    history = history_in(tmp_path)
    history.append(REF, [Message("tool", "已完成 done", "2026-01-05T01:00:00.000Z", "r1", tool_call_id="nobody")])
    assert [(f.problem, f.first_id) for f in check(place)] == [("result-alone", 5)]
    assert history.repair(REF) == ["alone"]
    assert check(place) == [] and history.repair(REF) == []
    assert history.read(REF).messages[-1].content == "已完成 done"
    assert history.messages(REF)[-1].role != "tool", "no model takes it, and nobody knows what it is about"


def test_two_records_on_one_line_are_both_kept(tmp_path: Path) -> None:
    file, place = made(tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join([*lines[:3], lines[3].rstrip(), *lines[4:]]))
    assert {f.detail for f in check(place)} >= {"two records on one line"}
    history = history_in(tmp_path)
    assert "lines" in history.repair(REF)
    assert [m.id for m in history.messages(REF)] == [1, 2, 3, 4]
    assert check(place) == [] and history.repair(REF) == []


def test_a_foreign_file_whose_line_1_has_no_padding(tmp_path: Path) -> None:
    file, place = made(tmp_path)
    body = file.read_bytes().split(b"\n", 1)[1]
    bare = {
        "key": KEY,
        "title": "部署",
        "created_at": "2026-01-05",
        "updated_at": "x",
        "last_consolidated": 7,
        "metadata": {},
    }
    file.write_bytes(json.dumps(bare, ensure_ascii=False).encode() + b"\n" + body)
    assert [f.problem for f in check(place)] == ["line1"]
    history = history_in(tmp_path)
    assert history.repair(REF) and check(place) == [] and history.repair(REF) == []
    assert len(file.read_bytes().split(b"\n")[0]) == 2047
    assert [m.id for m in history.messages(REF)] == [1, 2, 3, 4] and history.read(REF).header.title == "部署"


def bounded(place: Place) -> None:
    put(place, *talk(8))
    part = archive_oldest(place, 10, 5, NOW)
    assert isinstance(part, Part)
    consolidate(place, part, NOW)
    trim(place, NOW)


def test_a_damaged_archive_costs_the_damaged_frame(tmp_path: Path) -> None:
    place, history = place_in(tmp_path), history_in(tmp_path)
    bounded(place)
    put(place, *talk(8, 100))
    part = archive_oldest(place, 10, 5, NOW)
    assert isinstance(part, Part)
    consolidate(place, part, NOW)
    trim(place, NOW)
    whole = Path(place.archive).read_bytes()
    second = whole.index(b"\x28\xb5\x2f\xfd", 1)
    for at in (second // 2, second + (len(whole) - second) // 2):
        Path(place.archive).write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        read = history.read(REF)
        assert 0 < len(read.messages) < 64 and [f.problem for f in check(place)] == ["archive"]
        assert history.repair(REF) == ["archive"] and check(place) == [] and history.repair(REF) == []
        assert history.messages(REF) == list(read.messages)
        assert any(
            bytes_of(entry) in whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :]
            for entry in entries(place.quarantine)
        )
        Path(place.archive).write_bytes(whole)
        Path(place.quarantine).unlink()


def test_an_archive_cut_at_any_byte_never_raises(tmp_path: Path) -> None:
    place, history = place_in(tmp_path), history_in(tmp_path)
    bounded(place)
    whole = Path(place.archive).read_bytes()
    for length in range(0, len(whole), 7):
        Path(place.archive).write_bytes(whole[:length])
        assert len(history.read(REF).messages) == 8
        assert [f.problem for f in check(place)] == ["archive"]


def test_an_archive_that_is_gone_is_told_of_once(tmp_path: Path) -> None:
    place, history = place_in(tmp_path), history_in(tmp_path)
    bounded(place)
    Path(place.archive).unlink()
    assert [(f.problem, f.first_id, f.last_id) for f in check(place)] == [("archive", 1, 24)]
    assert history.repair(REF) == ["lost"] and check(place) == [] and history.repair(REF) == []


def test_a_copy_that_no_mark_speaks_of_leaves_the_archive(tmp_path: Path) -> None:
    place, history = place_in(tmp_path), history_in(tmp_path)
    put(place, *talk(8))
    before, lines = Path(place.file).read_bytes(), live_lines(place)
    assert isinstance(archive_oldest(place, 10, 5, NOW), Part)
    Path(place.file).write_bytes(before)  # killed before the mark
    assert [(f.problem, f.first_id, f.last_id) for f in check(place)] == [("in-both", 1, 24)]
    assert len(history.messages(REF)) == 32
    assert history.repair(REF) == ["in-both"]
    assert live_lines(place) == lines and archived_lines(place) == {}
    assert check(place) == [] and history.repair(REF) == []


def test_an_archive_that_stands_alone_gets_its_live_file_back(tmp_path: Path) -> None:
    place, history = place_in(tmp_path), history_in(tmp_path)
    bounded(place)
    Path(place.file).unlink()
    (lost,) = history.lost()
    assert lost == Path(place.archive) and list(history.headers()) == []
    history.restore(lost)
    assert list(history.lost()) == [] and [h.key for h in history.headers()] == [KEY]
    assert [m.id for m in history.messages(REF)] == list(range(1, 25)) and check(place) == []
    put(place, *talk(1, 200))
    assert history.messages(REF)[-1].id == 28
    history.restore(lost)
    assert history.messages(REF)[-1].id == 28


def test_temporaries_are_found_beside_the_live_file_and_in_the_archive(tmp_path: Path) -> None:
    file, place = made(tmp_path)
    history = history_in(tmp_path)
    for path in (file, Path(place.archive)):
        path.parent.mkdir(exist_ok=True)
        left = path.with_name(path.name + ".123-abcd.tmp")
        left.write_bytes(b"half")
        assert [(f.problem, f.file) for f in check(place)] == [("temporary", str(left))]
        assert history.repair(REF) == ["temporaries"] and not left.exists()
        assert check(place) == [] and history.repair(REF) == []


def test_temporaries_of_a_killed_rewrite_are_removed(tmp_path: Path) -> None:
    file, _ = made(tmp_path)
    left = file.with_name(file.name + ".123-abcd.tmp")
    left.write_bytes(b"half")
    assert history_in(tmp_path).repair(REF) == ["temporaries"] and not left.exists()
    left.write_bytes(b"half")
    assert len(list(history_in(tmp_path).headers())) == 1 and not left.exists()
