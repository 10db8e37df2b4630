"""What an append finds and what it leaves: damage of every kind, a full disk, a kill at any moment, many writers."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.domain.errors import StorageFailed
from catmem.sessions import header as line1
from catmem.sessions.file import append, heal
from catmem.sessions.names import Place
from catmem.sessions.quarantine import bytes_of, entries
from catmem.sessions.reading import read_file
from catmem.sessions.records import mark_record
from catmem.sessions.repair import check, repair
from tests.sessions.support import KEY, LISTING, at, place_in, record

MESSAGES = 4


@pytest.fixture
def no_disk_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of damaged files are looked at; waiting for the disk each time shows nothing more."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr("catmem.sessions.open_session._sync_data", lambda descriptor: None)


@pytest.fixture
def sound(tmp_path: Path) -> bytes:
    """The bytes of a session of four messages, the title and the workspace."""
    place = place_in(tmp_path / "sound")
    for n in range(1, MESSAGES + 1):
        calls = [{"id": "c", "name": "Bash", "arguments": '{"command":"ls"}'}] if n == 2 else ()
        put(place, {**record(n), **({"toolCalls": list(calls)} if calls else {})})
    return Path(place.file).read_bytes()


def put(place: Place, *records: dict[str, Any], **settings: Any) -> Any:
    return append(place, KEY, list(records), listing={**LISTING, "title": "部署"}, **{"durability": "none", **settings})


def written(place: Place, data: bytes) -> Place:
    for old in (place.file, place.quarantine):
        Path(old).unlink(missing_ok=True)
    Path(place.file).parent.mkdir(parents=True, exist_ok=True)
    Path(place.file).write_bytes(data)
    return place


def spans(data: bytes) -> dict[int, tuple[int, int]]:
    """Where each message stands, without its newline."""
    found, start = {}, 0
    for line in data.split(b"\n"):
        if line.startswith(b'{"id":'):
            found[json.loads(line)["id"]] = (start, start + len(line))
        start += len(line) + 1
    return found


def kept(place: Place) -> list[bytes]:
    return [bytes_of(entry) for entry in entries(place.quarantine)]


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
    put(place, *({**record(n), "uid": f"{n}" * 16} for n in range(1, MESSAGES + 1)))
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


def test_wrong_values_in_line_1_hide_nothing_and_are_reported_once(tmp_path: Path, sound: bytes) -> None:
    place = place_in(tmp_path / "x")
    for wrong in ("999", "true", '"5"', "-1", "null"):
        text = sound[: line1.ROOM].decode().replace('"last_consolidated":0', f'"last_consolidated":{wrong}')
        written(place, text.rstrip().encode().ljust(line1.ROOM - 1) + b"\n" + sound[line1.ROOM :])
        content = read_file(place)
        assert [m.id for m in content.messages] == [1, 2, 3, 4] and content.header.last_consolidated == 0
        assert len(content.damage) == 1 and content.damage[0].offset == 0
        assert heal(place)[1] == ["line1"]
        assert read_file(place).damage == () and check(place) == []


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


# -- killed


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Runs `work` in a child that is killed just before its `step`-th call that touches a file. False if it ended."""
    child = os.fork()
    if child == 0:
        calls = 0

        def watched(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **named: Any) -> Any:
                nonlocal calls
                calls += 1
                if calls == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*args, **named)

            return call

        for name in ("open", "write", "ftruncate", "fsync", "replace", "unlink", "lseek", "close"):
            setattr(os, name, watched(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def test_killed_at_every_step_of_an_append(tmp_path: Path, sound: bytes) -> None:
    place = place_in(tmp_path / "x")
    for data in (sound, sound[:-20], sound[100:]):
        before = [m.uid for m in read_file(written(place, data)).messages]
        step = 1
        while killed_at(step, lambda: put(place, record(5), durability="message")):
            found = [m.uid for m in read_file(place).messages]
            assert found in (before, [*before, "u5"]), step
            put(place, record(5))
            assert [m.uid for m in read_file(place).messages] == [*before, "u5"]
            assert {f.problem for f in check(place)} <= {"ids-missing", "temporary"}
            repair(place, at(99))
            assert check(place) == []
            written(place, data)
            step += 1
        assert step > 5


def test_killed_at_every_step_of_the_first_append(tmp_path: Path) -> None:
    step = 1
    while True:
        place = place_in(tmp_path / str(step))
        killed = killed_at(step, lambda place=place: put(place, record(1), durability="message"))  # type: ignore[misc]
        put(place, record(1))
        assert [m.uid for m in read_file(place).messages] == ["u1"] and check(place) == []
        if not killed:
            break
        step += 1
    assert step > 5


def test_a_killed_rewrite_leaves_the_old_file_or_the_new_one(tmp_path: Path, sound: bytes) -> None:
    from catmem.sessions.listing import Listing

    place = place_in(tmp_path)
    big = mark_record("listing", at(3), header={"metadata": {f"note{n}": "x" * 900 for n in range(3)}})
    step, saw_temporary = 1, False
    while True:
        written(place, sound)
        killed = killed_at(step, lambda: put(place, big))
        saw_temporary |= len(list(Path(place.file).parent.iterdir())) > 1
        assert [m.id for m in read_file(place).messages] == [1, 2, 3, 4]
        assert [h.count for h in Listing(tmp_path).headers()] == [4]
        assert len(list(Path(place.file).parent.iterdir())) == 1
        if not killed:
            break
        step += 1
    assert saw_temporary


SCRIPT = """
import random, sys, time
from catmem.sessions.file import append
from catmem.sessions.names import place
from catmem.sessions.records import message_record
root, key, first, number, durability = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
for n in range(first, first + number):
    role = "user" if n % 2 else "assistant"
    text = f"消息 {n} 🐈 " + "x" * random.randrange(600)
    made = message_record(role, text, "2026-01-05T03:32:10.285Z", uid=f"u{n}")
    append(place(root, "webshop", key), key, [made], listing={"project": "webshop"}, durability=durability, wait=30)
    print(n, flush=True)
"""


def writer(root: Path, first: int, number: int, durability: str = "none") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(root), KEY, str(first), str(number), durability],
        stdout=subprocess.PIPE,
        text=True,
    )


def test_eight_processes_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    # Two by two they write the same messages, as two hooks of one event do.
    writers = [writer(tmp_path, 1 + 50 * (n // 2), 50) for n in range(8)]
    for each in writers:
        assert len(each.communicate()[0].split()) == 50 and each.returncode == 0
    place = place_in(tmp_path)
    content = read_file(place)
    assert sorted(m.uid for m in content.messages) == sorted(f"u{n}" for n in range(1, 201))
    assert [m.id for m in content.messages] == list(range(1, 201)) and content.damage == ()
    assert len(Path(place.file).read_bytes().splitlines()) == 1 + 200 + len(content.marks)
    for first in range(1, 201, 50):
        order = [int(m.uid[1:]) for m in content.messages if first <= int(m.uid[1:]) < first + 50]
        assert order == sorted(order)


@pytest.mark.slow
def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    chance, acknowledged, first = random.Random(5), set[int](), 1
    place = place_in(tmp_path)
    for _ in range(25):
        each = writer(tmp_path, first, 10_000)
        assert each.stdout
        acknowledged.add(int(each.stdout.readline()))
        time.sleep(chance.random() * 0.05)
        each.kill()
        acknowledged |= {int(line) for line in each.stdout.read().split()}
        each.wait()
        each.stdout.close()
        first = max(acknowledged) + 1
    uids = [int(m.uid[1:]) for m in read_file(place).messages]
    assert acknowledged <= set(uids) and len(uids) == len(set(uids))
    heal(place)
    assert check(place) == []
