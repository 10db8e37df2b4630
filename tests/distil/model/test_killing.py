"""kill -9 at random moments of workers that ask a model: every session is distilled once, and what was answered is never
asked again."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catmem.distil.distiller import judged, read
from catmem.distil.model import proposals, record
from catmem.distil.model.selector import selector_of
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.llm.port import Failure
from catmem.llm.scripted import Answer, Asked, ScriptedModel
from catmem.settings.paths import Paths
from catmem.wiring import Catmem
from tests.distil.model.asked import CHINESE, LINES, form, selecting
from tests.distil.talks import talk

ROUNDS, SESSIONS = 50, 60
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


PROSE = "I think you like pnpm, and short answers."
MODELS = {
    "good": selecting("pnpm", "提交信息"),
    "good when it is asked again": lambda asked: PROSE if len(asked.turns) == 1 else selecting("pnpm")(asked),
    "guessing": lambda asked: form({"n": 1}),
    "chatting": lambda asked: PROSE,
    "failing": lambda asked: Failure("down", "坏了", remedy="later", kind="500"),
}


class Killed(BaseException):
    pass


@pytest.mark.parametrize("lines", [LINES, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("answerer", MODELS.values(), ids=MODELS.keys())
def test_killed_before_or_after_any_write_it_counts_and_parks_as_one_that_was_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answerer: Callable[[Asked], Answer], lines: tuple[str, ...]
) -> None:
    whole, writes = distilled(tmp_path / "whole", answerer, lines, monkeypatch, None)
    assert writes > 2
    for step in range(2 * writes):
        left, _ = distilled(tmp_path / f"killed {step}", answerer, lines, monkeypatch, step)
        if answerer is MODELS["failing"]:
            # A call that failed before the kill has failed, and the one after it, too.
            assert left.pop("faults").keys() == whole["faults"].keys()
            assert left == {name: value for name, value in whole.items() if name != "faults"}
        else:
            assert left == whole, step


def distilled(
    root: Path,
    answerer: Callable[[Asked], Answer],
    lines: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    kill: int | None,
) -> tuple[dict[str, Any], int]:
    """What the record says in the end, and how many writes there were: the worker dies before or after one of them."""
    paths, writes = Paths(root), 0
    original = record.save

    def save(at: Paths, file: Path, data: bytes) -> None:
        nonlocal writes
        writes += 1
        if kill is not None and writes - 1 == kill // 2:
            if kill % 2:
                original(at, file, data)
            raise Killed
        original(at, file, data)

    for module in (record, proposals):
        monkeypatch.setattr(module, "save", save)
    sentences, ref = read(talk(*lines)), SessionRef("yard", "s1")
    committed = False
    while not committed:
        selector = selector_of(paths, lambda: ScriptedModel(answerer), b"a key of the tests", lambda: 1_800_000_000.0)
        try:
            selector.tidy({ref})
            selector.select(ref, sentences, judged(sentences), 1, len(lines), "end")
            committed = True  # to the ledger; what follows only tidies up
            selector.settled(ref)
        except Killed:
            continue
    selector.tidy(set())
    monkeypatch.undo()
    kept = json.loads((paths.run / "distilling.json").read_bytes()) if (paths.run / "distilling.json").exists() else {}
    assert not kept.pop("noted", None) and not list(paths.run.glob("proposals/*/*.json"))
    return kept, writes


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
        run(tmp_path / "data", asked, dice.uniform(0.0, 0.08))
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
