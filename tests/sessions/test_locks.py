from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from catmem.domain.errors import LockBusy, StorageFailed
from catmem.sessions.locks import session_lock

HOLD = """
import sys, time
from catmem.sessions.locks import session_lock
with session_lock(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_two_holders_never(tmp_path: Path) -> None:
    lock, inside, most = str(tmp_path / "locks" / "a.lock"), 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(100):
            with session_lock(lock):
                inside += 1
                most = max(most, inside)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, inside) == (1, 0)


def test_the_wait_is_bounded_and_ends_in_a_typed_error(tmp_path: Path) -> None:
    lock = str(tmp_path / "a.lock")
    with session_lock(lock), pytest.raises(LockBusy) as caught, session_lock(lock, wait=0.02):
        pass
    assert "try again" in caught.value.en and "重试" in caught.value.zh
    with session_lock(lock, wait=0):
        pass


def test_an_error_inside_frees_it(tmp_path: Path) -> None:
    lock = str(tmp_path / "a.lock")
    with pytest.raises(KeyboardInterrupt), session_lock(lock):
        raise KeyboardInterrupt
    with session_lock(lock, wait=0):
        pass


def test_killing_the_holder_frees_it_without_cleanup(tmp_path: Path) -> None:
    lock = str(tmp_path / "a.lock")
    holder = subprocess.Popen([sys.executable, "-c", HOLD, lock], stdout=subprocess.PIPE, text=True)
    assert holder.stdout and holder.stdout.readline() == "held\n"
    with pytest.raises(LockBusy), session_lock(lock, wait=0.05):
        pass
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    started = time.monotonic()
    with session_lock(lock, wait=5):
        waited = time.monotonic() - started
    holder.stdout.close()
    assert waited < 1


def test_the_lock_file_stays_the_same(tmp_path: Path) -> None:
    lock = tmp_path / "a.lock"
    with session_lock(str(lock)):
        first = lock.stat().st_ino
    with session_lock(str(lock)):
        assert lock.stat().st_ino == first
    assert lock.stat().st_mode & 0o077 == 0


def test_a_lock_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageFailed), session_lock(str(tmp_path / "file" / "a.lock")):
        pass


def test_two_holders_never_though_the_file_is_removed_by_who_holds_it(tmp_path: Path) -> None:
    lock, inside, most = str(tmp_path / "locks" / "a.lock"), 0, 0

    def work(removes: bool) -> None:
        nonlocal inside, most
        for _ in range(100):
            with session_lock(lock, wait=30):
                inside += 1
                most = max(most, inside)
                time.sleep(0)
                inside -= 1
                if removes:  # the last that its holder does
                    os.unlink(lock)

    threads = [threading.Thread(target=work, args=(number % 2 == 0,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, inside) == (1, 0)
