"""kill -9 at random moments of a process that appends, distils and folds: what was acknowledged is there, and once."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from catmem.domain.memory import normal
from catmem.domain.session import SessionRef
from catmem.wiring import Catmem

ROUNDS = 100
PROJECT, KEY = "harbour", "chat:crash"
_CHILD = """
import sys
from pathlib import Path
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.wiring import Catmem

catmem, ref = Catmem(Path(sys.argv[1])), SessionRef(sys.argv[2], sys.argv[3])
number = int(sys.argv[4])
while True:
    number += 1
    text = f"Remember: berth {number} belongs to the ferry line {number * 7}. 记住：{number} 号泊位归轮渡公司 {number * 7}。"
    stamp = f"2026-03-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}.000Z"
    catmem.history.append(ref, [Message("user", text, stamp, f"u{number}")])
    print(f"u{number}", flush=True)
    catmem.history.append(ref, [Message("assistant", "Noted.", stamp, f"a{number}")])
    print(f"a{number}", flush=True)
    if number % 3 == 0:
        catmem.distiller.run(everything=True)
    if number % 7 == 0:
        catmem.index.catch_up(catmem.store, catmem.history)
"""


def _run_and_kill(root: Path, first: int, alive: float) -> list[str]:
    """Starts the process, kills it `alive` seconds after its first acknowledgement; returns what it acknowledged."""
    command = [sys.executable, "-c", _CHILD, str(root), PROJECT, KEY, str(first)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    acknowledged = [process.stdout.readline().strip()]
    reader = threading.Thread(target=lambda: acknowledged.extend(line.strip() for line in process.stdout or ()))
    reader.start()
    time.sleep(alive)
    process.send_signal(signal.SIGKILL)
    process.wait()
    reader.join()
    process.stdout.close()
    # A line cut short was never acknowledged; it has no digits lost, since the pipe is read to its end.
    return [uid for uid in acknowledged if uid]


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_and_nothing_is_there_twice(tmp_path: Path) -> None:
    dice = random.Random(20261130)
    acknowledged: list[str] = []
    number = 0
    for _ in range(ROUNDS):
        acknowledged += _run_and_kill(tmp_path, number, dice.uniform(0.0, 0.25))
        number = max(int(uid[1:]) for uid in acknowledged) + 1

    catmem = Catmem(tmp_path)
    ref = SessionRef(PROJECT, KEY)
    stored = Counter(message.uid for message in catmem.history.read(ref).messages)
    assert set(acknowledged) <= set(stored), "an acknowledged message is gone"
    assert set(stored.values()) == {1}
    ids = [message.id for message in catmem.history.read(ref).messages]
    assert ids == sorted(set(ids))

    done = catmem.distiller.run(everything=True)
    assert (done.failed, done.pending) == (0, 0)
    said = Counter(normal(memory.now.text) for memory in catmem.store.live())
    assert said and set(said.values()) == {1}
    for memory in catmem.store.live():
        assert memory.now.confirmations == 1
        assert len({(e.message_id, e.quote) for e in memory.now.evidence}) == len(memory.now.evidence)

    before = catmem.store.all()
    catmem.store.rebuild()
    assert catmem.store.all() == before, "the database is what the ledger says"
    assert catmem.store.problems() == [], "nothing is left to repair by hand"
    catmem.index.catch_up(catmem.store, catmem.history)
    assert catmem.history.check(ref) == []
    catmem.close()
