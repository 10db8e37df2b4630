from __future__ import annotations

from pathlib import Path

from catmem.sessions.names import Place
from catmem.sessions.quarantine import bytes_of, entries
from catmem.sessions.records import encode
from catmem.sessions.repair import check
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


def test_two_files_put_together_by_hand(tmp_path: Path) -> None:
    file, place = made(tmp_path)
    with file.open("ab") as end:
        end.write(encode({**record(9), "id": 2, "sessionKey": KEY}))
    history = history_in(tmp_path)
    assert len(history.messages(REF)) == 5
    history.repair(REF)
    assert [(f.problem, f.first_id) for f in check(place)] == [("ids-repeated", 2)]


def test_temporaries_of_a_killed_rewrite_are_removed(tmp_path: Path) -> None:
    file, _ = made(tmp_path)
    left = file.with_name(file.name + ".123-abcd.tmp")
    left.write_bytes(b"half")
    assert history_in(tmp_path).repair(REF) == ["temporaries"] and not left.exists()
    left.write_bytes(b"half")
    assert len(list(history_in(tmp_path).headers())) == 1 and not left.exists()
