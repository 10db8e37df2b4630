"""One dream an interval, however many workers start at once: each waits for the lock, and finds that it was done."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.index.world import World

PROCESSES = 4
_CHILD = """
import sys, time
from pathlib import Path
from catmem.cli.work import only_worker, run_work
from catmem.llm.port import Completion
from catmem.wiring import Catmem

class Slow:
    def complete(self, system, turns, schema, *, max_tokens):
        with open(sys.argv[2], "a") as asked:
            asked.write("asked\\n")
        time.sleep(0.3)
        return Completion("I would rather not.")

catmem = Catmem(Path(sys.argv[1]))
vars(catmem)["working_model"] = Slow()
print("ready", flush=True)
sys.stdin.readline()
with only_worker(catmem, wait=60.0):
    run_work(catmem, everything=False)
"""


def test_workers_that_start_at_once_dream_once(tmp_path: Path) -> None:
    root, asked = tmp_path / "data", tmp_path / "asked"
    world = World(root)
    for text in ("We deploy on Fridays.", "测试用 pytest 跑。", "I like short answers without a preamble."):
        world.learn(text, scope="global")
    command = [sys.executable, "-c", _CHILD, str(root), str(asked)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    workers = [subprocess.Popen(command, **pipes) for _ in range(PROCESSES)]
    for worker in workers:
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    assert [worker.wait(120) for worker in workers] == [0] * PROCESSES
    for worker in workers:
        worker.stdin.close()
        worker.stdout.close()
    # Once, and once more since the answer was of no use; the next run would ask again.
    assert asked.read_text() == "asked\n" * 2
