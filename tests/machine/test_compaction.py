"""Eight processes write into one session while it is compacted again and again: nothing is lost, nothing twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from catmem.domain.errors import LockBusy
from catmem.sessions.parts import Part
from catmem.sessions.reading import read_file
from catmem.sessions.repair import check, repair
from catmem.sessions.trim import archive_oldest, consolidate, live_bound, trim
from tests.sessions.long import NOW, archived_lines, live_lines
from tests.sessions.support import KEY, place_in

WRITERS, APPENDS = 8, 1000
# It takes about twenty seconds on two cores; a machine that is busy otherwise gets this long.
PATIENCE = 300.0

_WRITER = """
import sys
from catmem.sessions.file import append
from catmem.sessions.names import place
from catmem.sessions.records import message_record
root, key, name, number = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
for n in range(1, number + 1):
    role = "user" if n % 2 else "assistant"
    made = message_record(role, f"{name} 的第 {n} 条", "2026-01-05T03:32:10.285Z", uid=f"{name}-{n}")
    append(place(root, "webshop", key), key, [made], listing={"project": "webshop"}, durability="none", wait=60)
    print(n, flush=True)
"""
_COMPACTOR = """
import sys, time
from catmem.domain.errors import LockBusy
from catmem.sessions.names import place
from catmem.sessions.parts import Part
from catmem.sessions.trim import archive_oldest, consolidate, trim
there = place(sys.argv[1], "webshop", sys.argv[2])
while True:
    try:
        part = archive_oldest(there, 200, 50, "2026-03-01T00:00:00.000Z", turn_is_over=True)
        if isinstance(part, Part):
            consolidate(there, part, "2026-03-01T00:00:00.000Z")
            print(trim(there, "2026-03-01T00:00:00.000Z"), flush=True)
    except (LockBusy, FileNotFoundError):
        pass
    except Exception as error:
        if "No such file" not in str(error):
            raise
    time.sleep(0.002)
"""


def run(code: str, root: Path, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, str(root), KEY, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(root: Path) -> None:
    """A last compaction, after whoever was killed."""
    place = place_in(root)
    part = archive_oldest(place, 200, 50, NOW, turn_is_over=True)
    if isinstance(part, Part):
        consolidate(place, part, NOW)
    trim(place, NOW)


@pytest.mark.slow
def test_eight_writers_and_a_compaction_loop(tmp_path: Path) -> None:
    writers = [run(_WRITER, tmp_path, f"w{n}", APPENDS) for n in range(WRITERS)]
    compactor = run(_COMPACTOR, tmp_path)
    try:
        for writer in writers:
            out, err = writer.communicate(timeout=PATIENCE)
            assert writer.returncode == 0 and len(out.split()) == APPENDS, err
        assert compactor.poll() is None, compactor.stderr and compactor.stderr.read()
    finally:
        compactor.kill()
        rounds, _ = compactor.communicate()
    place = place_in(tmp_path)
    finish(tmp_path)
    messages = read_file(place).messages
    assert Counter(m.uid for m in messages) == Counter(
        f"w{w}-{n}" for w in range(WRITERS) for n in range(1, APPENDS + 1)
    )
    assert [m.id for m in messages] == sorted({m.id for m in messages})
    for writer_number in range(WRITERS):
        own = [int(m.uid.split("-")[1]) for m in messages if m.uid.startswith(f"w{writer_number}-")]
        assert own == sorted(own), "in the order in which they were written"
    assert not set(live_lines(place)) & set(archived_lines(place)) and live_bound(place) <= 200
    assert len(rounds.split()) > 3 and check(place) == []


@pytest.mark.slow
def test_a_compactor_that_is_killed_at_any_moment_frees_the_lock_and_loses_nothing(tmp_path: Path) -> None:
    dice, place = random.Random(3), place_in(tmp_path)
    writer = run(_WRITER, tmp_path, "w", 3000)
    while not Path(place.file).exists():
        time.sleep(0.01)
    while writer.poll() is None:
        compactor = run(_COMPACTOR, tmp_path)
        time.sleep(dice.uniform(0.1, 0.4))
        compactor.send_signal(signal.SIGKILL)
        compactor.communicate()
        started = time.monotonic()
        while True:
            try:
                finish(tmp_path)
                break
            except LockBusy:  # the writer's turn; that a dead holder frees it at once is shown in test_locks
                assert time.monotonic() - started < PATIENCE
                time.sleep(0.001)
    out, err = writer.communicate()
    assert writer.returncode == 0 and len(out.split()) == 3000, err
    repair(place, NOW)
    finish(tmp_path)
    assert [m.uid for m in read_file(place).messages] == [f"w-{n}" for n in range(1, 3001)]
    assert not set(live_lines(place)) & set(archived_lines(place))
    assert check(place) == [] and repair(place, NOW) == []
