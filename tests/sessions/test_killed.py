"""kill -9 at any moment of a write, and many processes that write at once."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from catmem.sessions import header as line1
from catmem.sessions.file import heal
from catmem.sessions.reading import read_file
from catmem.sessions.records import mark_record
from catmem.sessions.repair import check, repair
from tests.sessions.damage import killed_at, put, written
from tests.sessions.support import KEY, at, place_in, record


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


def test_nothing_refers_to_what_is_not_there_wherever_a_write_stopped(tmp_path: Path, no_disk_waits: None) -> None:
    place = place_in(tmp_path / "x")
    chain = [record(1)]
    for n in range(2, 9):
        calls = [{"id": f"c{n}", "name": "Bash", "arguments": "{}"}] if n % 3 == 0 else []
        answers = {"tool_call_id": f"c{n - 1}"} if n % 3 == 1 else {}
        made = record(n, parent=f"u{n - 1}", tool_calls=calls, **answers)
        chain.append({**made, "role": "tool"} if answers else made)
    put(place, *chain)
    whole = Path(place.file).read_bytes()
    for stop in range(len(whole), line1.ROOM, -7):
        content = read_file(written(place, whole[:stop]))
        uids, calls_there = {""}, {""}
        for message in content.messages:
            assert message.parent in uids and message.tool_call_id in calls_there, stop
            uids.add(message.uid)
            calls_there |= {call.id for call in message.tool_calls}
