"""kill -9 at random moments of workers that ask a model: every session is distilled once, and what was answered is never
asked again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.wiring import Catmem

ROUNDS, SESSIONS = 20, 30
_CHILD = """
import sys
from pathlib import Path
from catmem.llm.port import Completion
from catmem.wiring import Catmem
from tests.distil.model.asked import selecting
from catmem.llm.scripted import Asked

class Slow:
    def complete(self, system, turns, schema, *, max_tokens):
        answer = Completion(selecting("signed", "签名")(Asked(tuple(system), tuple(turns))))
        with open(sys.argv[2], "a") as asked:
            asked.write(turns[0].text.split("hall ")[1].split()[0] + "\\n")
        return answer

catmem = Catmem(Path(sys.argv[1]))
vars(catmem)["working_model"] = Slow()
print("ready", flush=True)
catmem.distiller.run(everything=True)
print("done", flush=True)
"""


def run(root: Path, asked: Path, alive: float | None) -> None:
    command = [sys.executable, "-c", _CHILD, str(root), str(asked)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[3])
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    if alive is not None:
        time.sleep(alive)
        process.kill()
    out = process.stdout.read()
    process.wait()
    process.stdout.close()
    assert alive is not None or out == "done\n"


@pytest.mark.slow
def test_killed_workers_distil_each_session_once_and_ask_once(tmp_path: Path) -> None:
    catmem = Catmem(tmp_path / "data")
    for n in range(SESSIONS):
        text = f"in hall {n} of the yard: all commits to this repository must be signed 提交都要签名"
        stamp = f"2026-01-{n % 28 + 1:02}T10:00:00Z"
        said = [
            Message("user", "what is the state of the build?", stamp, f"a{n}"),
            Message("assistant", "It is green.", stamp, f"b{n}"),
            Message("user", f"{text}\nshow me the log\nand the one before", stamp, f"c{n}"),
        ]
        catmem.history.append(SessionRef("yard", f"chat:{n}"), said)
    catmem.close()
    dice, asked = random.Random(5), tmp_path / "asked"
    for _ in range(ROUNDS):
        run(tmp_path / "data", asked, dice.uniform(0.0, 0.15))
    run(tmp_path / "data", asked, None)

    ledgers = (tmp_path / "data" / "ledger").glob("*.jsonl")
    lines = [json.loads(line) for path in ledgers for line in path.open()]
    distilled = Counter(line["job"]["session"] for line in lines if line.get("op") == "distilled")
    assert len(distilled) == SESSIONS and set(distilled.values()) == {1}
    questions = Counter(asked.read_text().split())
    assert len(questions) == SESSIONS
    # A call of which the answer was not yet written down when its worker was killed, is made again: at most one a kill.
    assert sum(questions.values()) - SESSIONS <= ROUNDS and max(questions.values()) <= 3
    assert not list((tmp_path / "data" / "run" / "proposals").rglob("*.json"))
