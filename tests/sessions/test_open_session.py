"""What an append finds and what it leaves: damage of every kind, and a disk that refuses."""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.domain.errors import StorageFailed
from catmem.sessions import header as line1
from catmem.sessions.file import heal
from catmem.sessions.names import Place
from catmem.sessions.quarantine import entries
from catmem.sessions.reading import read_file
from catmem.sessions.records import mark_record
from catmem.sessions.repair import check, repair
from tests.sessions.damage import kept, put, spans, written
from tests.sessions.support import KEY, at, place_in, record


def assert_sound_after_an_append(place: Place, expected: list[int]) -> None:
    """An append succeeds on the damaged file, keeps what was whole, and leaves a line 1 that fits."""
    put(place, record(99))
    content = read_file(place)
    assert [m.id for m in content.messages][: len(expected)] == expected
    assert content.messages[-1].uid == "u99" and len(content.messages) >= len(expected) + 1
    assert content.header.key == KEY
    header, fault = line1.unpack(Path(place.file).read_bytes().split(b"\n")[0] + b"\n")
    assert fault == "" and header and header["metadata"]["bytes"] == Path(place.file).stat().st_size
    assert header["metadata"]["count"] == len(content.messages)


def test_cut_at_every_byte(tmp_path: Path, sound: bytes, no_disk_waits: None) -> None:
    place = place_in(tmp_path / "cut")
    where = spans(sound)
    padding = len(sound[: line1.ROOM].rstrip()) + 2
    # Every byte, but of the padding, where all are alike, only some.
    for cut in [*range(padding), *range(padding, line1.ROOM - 2, 31), *range(line1.ROOM - 2, len(sound) + 1)]:
        written(place, sound[:cut])
        whole = [id for id, (_, stop) in where.items() if stop <= cut]
        assert [m.id for m in read_file(place).messages] == whole, cut
        assert Path(place.file).read_bytes() == sound[:cut]
        assert_sound_after_an_append(place, whole)
        lost = sound[:cut].rpartition(b"\n")[2]
        now = Path(place.file).read_bytes()
        assert lost in now or lost in kept(place), cut
        assert [f for f in check(place) if f.problem != "ids-missing"] == []


@pytest.mark.parametrize("change", [lambda b: b ^ 1, lambda b: b ^ 0x80, lambda b: 10, lambda b: 0])
def test_one_wrong_byte_anywhere_costs_one_record_at_most(
    tmp_path: Path, no_disk_waits: None, change: Callable[[int], int]
) -> None:
    place = place_in(tmp_path / "flip")
    # Ids of clients are long: no single flip makes one of them another.
    put(place, *({**record(n), "uid": f"{n}" * 16} for n in range(1, 5)))
    sound = Path(place.file).read_bytes()
    where = spans(sound)
    texts = {m.id: m.content for m in read_file(place).messages}
    # Every byte of the body, and of line 1 the text, its end and some of the padding.
    text = len(sound[: line1.ROOM].rstrip())
    for offset in [*range(0, text + 2), *range(text + 2, line1.ROOM - 2, 97), *range(line1.ROOM - 2, len(sound))]:
        damaged = bytearray(sound)
        damaged[offset] = change(damaged[offset])
        if damaged == sound:
            continue
        written(place, bytes(damaged))
        content = read_file(place)
        found = {(m.id, m.content) for m in content.messages}
        untouched = {id for id, (start, stop) in where.items() if not start <= offset < stop}
        assert {(id, texts[id]) for id in untouched} <= found, offset
        assert content.header.key == KEY
        assert Path(place.file).read_bytes() == damaged
        for bad in content.damage:
            assert bytes(damaged[bad.offset : bad.offset + bad.length]) in kept(place)


EDITS = st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 300), st.binary(max_size=40)), min_size=1, max_size=4)


@given(EDITS)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_replaced_cut_out_and_put_in_anywhere(
    tmp_path: Path, sound: bytes, no_disk_waits: None, edits: list[tuple[int, int, bytes]]
) -> None:
    data = sound
    for offset, length, new in edits:
        data = data[:offset] + new + data[offset + length :]
    place = written(place_in(tmp_path / "edit"), data)
    lines = data.split(b"\n")
    whole = {json.loads(line)["id"] for line in sound.split(b"\n") if line.startswith(b'{"id"') and line in lines}
    before = read_file(place)
    assert Path(place.file).read_bytes() == data
    if not any(m.session_key == KEY for m in before.messages):
        return  # nothing says whose it is: a listing leaves it alone, an append may refuse it
    assert whole <= {m.id for m in before.messages}
    put(place, record(99))
    after = read_file(place)
    assert [m for m in after.messages if m.uid != "u99"] == [m for m in before.messages if m.uid != "u99"]
    assert sum(m.uid == "u99" for m in after.messages) == 1
    done = repair(place, at(99))
    mended = read_file(place).messages
    if "renumbered" in done:
        assert {replace(m, id=0) for m in before.messages} <= {replace(m, id=0) for m in mended}
    else:
        assert [m for m in mended if m.uid != "u99"] == [m for m in before.messages if m.uid != "u99"]
    assert check(place) == [] and repair(place, at(99)) == []
    now = Path(place.file).read_bytes()
    for number, line in enumerate(lines[1:]):
        assert line.strip() in now or any(line in raw for raw in kept(place)), number


def test_line_1_garbled_cut_short_or_gone_is_rebuilt_and_kept(tmp_path: Path, sound: bytes) -> None:
    place = place_in(tmp_path / "x")
    room, rest = sound[: line1.ROOM], sound[line1.ROOM :]
    for first in (b"#" * 2047 + b"\n", room[:100] + b"\n", b"", b"\n", b"{}\n", b"\x00" * 2048, room[:-1], b"\xff\n"):
        written(place, first + rest)
        before = read_file(place)
        assert [m.id for m in before.messages] == [1, 2, 3, 4] and before.header.title == "部署"
        assert before.header.metadata["project"] == "webshop"
        assert_sound_after_an_append(place, [1, 2, 3, 4])
        if first.strip(b"\n"):
            assert any(first.strip(b"\n") in raw for raw in kept(place))
        assert sum(raw.startswith(first) for raw in kept(place)) <= 1 or not first.strip()
        assert check(place) == []


@pytest.mark.parametrize("sealed", [False, True])
@pytest.mark.parametrize("field", ["last_consolidated", "count", "last_id", "bytes"])
def test_wrong_values_in_line_1_hide_nothing_and_are_reported_once(
    tmp_path: Path, sound: bytes, field: str, sealed: bool
) -> None:
    """With the old checksum, as a hand or a flipped bit leaves it, or with the right one, as a faulty program would."""
    place = place_in(tmp_path / "x")
    for wrong in ("999", "true", '"5"', "-1", "null"):
        text = re.sub(rf'"{field}":\d+', f'"{field}":{wrong}', sound[: line1.ROOM].decode().rstrip())
        if sealed:
            head = text[: text.rindex(',"checksum"')]
            text = f'{head},"checksum":"{crc32(head.encode()):08x}"}}}}'
        written(place, text.encode().ljust(line1.ROOM - 1) + b"\n" + sound[line1.ROOM :])
        content = read_file(place)
        assert [m.id for m in content.messages] == [1, 2, 3, 4] and content.header.last_consolidated == 0
        assert (content.header.metadata["count"], content.header.last_id) == (4, 4)
        if not (sealed and wrong == "999"):
            assert len(content.damage) == 1 and content.damage[0].offset == 0
            assert heal(place)[1] == ["line1"]
        else:
            # Nothing is wrong with the line but what it says: that takes a look at the whole.
            assert [f.problem for f in check(place)] == ["line1"] and repair(place, at(99))
        assert read_file(place).damage == () and check(place) == [] and repair(place, at(99)) == []


def test_a_line_1_that_is_behind_is_brought_up_to_date_from_the_rest_alone(tmp_path: Path, sound: bytes) -> None:
    place = place_in(tmp_path / "x")
    old = sound[: line1.ROOM]
    put(written(place, sound), record(5), mark_record("end", at(6)))
    new = Path(place.file).read_bytes()
    written(place, old + new[line1.ROOM :])  # killed between the two writes
    assert read_file(place).damage == ()
    header, healed = heal(place)
    assert header["metadata"]["count"] == 5 and "ended" in header["metadata"] and healed == []
    assert Path(place.file).read_bytes() == new


def test_a_whole_record_without_its_newline_gets_one(tmp_path: Path, sound: bytes) -> None:
    place = written(place_in(tmp_path / "x"), sound[:-1])
    put(place, record(5))
    assert Path(place.file).read_bytes()[line1.ROOM : len(sound)] == sound[line1.ROOM :]
    assert [m.id for m in read_file(place).messages] == [1, 2, 3, 4, 5] and kept(place) == []


def test_bad_lines_in_the_middle_are_reported_kept_once_and_left_in_place(tmp_path: Path, sound: bytes) -> None:
    place = place_in(tmp_path / "x")
    lines = sound.splitlines(keepends=True)
    bad = [b"not json\n", b'{"id":2,"session\n', "忆".encode()[:2] + b"\n"]
    data = b"".join([*lines[:3], bad[0], *lines[3:4], bad[1], bad[2], *lines[4:]])
    written(place, data)
    for _ in range(2):
        damage = read_file(place).damage
        assert [data[d.offset : d.offset + d.length] for d in damage] == bad
    assert sorted(kept(place)) == sorted(bad) and Path(place.file).read_bytes() == data
    assert {e["reason"] for e in entries(place.quarantine)} == {"not JSON", "not UTF-8"}
    put(place, record(5))
    assert all(line in Path(place.file).read_bytes() for line in bad)
    assert sorted(kept(place)) == sorted(bad)


def test_records_of_another_session_are_set_aside(tmp_path: Path, sound: bytes) -> None:
    place = place_in(tmp_path / "x")
    foreign = sound[line1.ROOM :].replace(KEY.encode(), b"codex:77").splitlines(keepends=True)[-1]
    written(place, sound + foreign)
    assert [m.id for m in read_file(place).messages] == [1, 2, 3, 4]
    put(place, record(5))
    assert [m.id for m in read_file(place).messages] == [1, 2, 3, 4, 5] and foreign in kept(place)


# -- a disk that refuses


class Disk:
    """Takes so many bytes more, then refuses; the last write before may be short."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 1 << 60
        self._write = os.write
        monkeypatch.setattr(os, "write", self)

    def __call__(self, descriptor: int, data: Any) -> int:
        if self.left <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = self._write(descriptor, memoryview(data)[: self.left])
        self.left -= done
        return done


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    yield Disk(monkeypatch)


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path, sound: bytes, no_disk_waits: None, disk: Disk) -> None:
    place = place_in(tmp_path / "full")
    body = len(bytes_of_append(place, sound))
    for left in range(body):
        disk.left = 1 << 60
        written(place, sound)
        disk.left = left
        with pytest.raises(StorageFailed) as caught:
            put(place, record(5))
        assert "No space left" in caught.value.en and "重试" in caught.value.zh
        assert Path(place.file).read_bytes() == sound, left
    disk.left = 1 << 60
    assert put(place, record(5))["new"] == [5]


def test_a_refusal_at_line_1_costs_nothing(tmp_path: Path, sound: bytes, no_disk_waits: None, disk: Disk) -> None:
    place = place_in(tmp_path / "full")
    body = len(bytes_of_append(place, sound))
    for left in range(body, body + line1.ROOM, 41):
        disk.left = 1 << 60
        written(place, sound)
        disk.left = left
        assert put(place, record(5))["new"] == [5]
        disk.left = 1 << 60
        assert put(place, record(6))["new"] == [6]
        assert [m.id for m in read_file(place).messages] == [1, 2, 3, 4, 5, 6]
        assert check(place) == []


def test_a_session_that_could_not_be_begun_is_not_there(tmp_path: Path, no_disk_waits: None, disk: Disk) -> None:
    place = place_in(tmp_path / "full")
    for left in range(0, 2500, 61):
        disk.left = left
        try:
            put(place, record(1))
        except StorageFailed:
            assert not Path(place.file).exists()
        else:
            Path(place.file).unlink()
    disk.left = 1 << 60
    assert put(place, record(1))["new"] == [1]


def test_a_sync_that_fails_is_not_acknowledged(tmp_path: Path, sound: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    place = written(place_in(tmp_path / "x"), sound)

    def refuse(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patched:
        patched.setattr("catmem.sessions.open_session._sync_data", refuse)
        with pytest.raises(StorageFailed):
            put(place, record(5), durability="message")
    assert put(place, record(5), durability="message")["new"] == [5]
    assert [m.uid for m in read_file(place).messages] == ["u1", "u2", "u3", "u4", "u5"]


def bytes_of_append(place: Place, sound: bytes) -> bytes:
    put(written(place, sound), record(5))
    return Path(place.file).read_bytes()[len(sound) :]
