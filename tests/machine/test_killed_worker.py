"""kill -9 of a worker with a model before and after each of its writes: what was answered is not asked again, each session
is distilled once, and what it leaves is what an unbroken run leaves."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from catmem.cli.work import only_worker, run_work
from catmem.distil.classifier import Classifier
from catmem.distil.rulebook import load_rulebook
from catmem.distil.slots import load_slots
from catmem.domain.clock import seconds_of
from catmem.llm.hashed import HashedEmbedder
from catmem.llm.scripted import Answer, Asked, ScriptedModel
from catmem.sessions.digests import read_digests
from catmem.sessions.file import append
from catmem.sessions.names import place
from catmem.settings.schema import Settings
from catmem.wiring import Catmem
from tests.distil.model.asked import selecting
from tests.sessions.long import NOW, said, talk

PROJECT = "webshop"
# The calls by which this program changes files; SQLite's own and those of the search library are not among them.
WRITES = ("write", "replace", "unlink")
HOURS = 3600.0
SAID = {
    "chat:1": "We run make check before each commit, all of it.",
    "chat:2": "Before committing, we always run make check, all of it.",
    "聊天:3": "我们的提交信息一律写英文，带上工单号。",
}


class Killer:
    """Ends this very process at its nth write, before it is made. `told` is a file that says in which state it was.

    `unsaved`: a model has answered, and nobody can know of it any more.
    """

    def __init__(self, at: int, told: Path) -> None:
        self.at, self.step, self.unsaved, self._told = at, 0, False, told
        for name in WRITES:
            setattr(os, name, self._counted(getattr(os, name)))

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.step += 1
            if self.step == self.at:
                self.tell()
                os.kill(os.getpid(), signal.SIGKILL)
            done = function(*arguments, **options)
            self.unsaved = self.unsaved and not _is_saving(function.__name__, arguments)
            return done

        return counted

    def tell(self) -> None:
        with self._told.open("w") as file:
            json.dump({"steps": self.step, "unsaved": self.unsaved}, file)


def _is_saving(call: str, arguments: Any) -> bool:
    """Whether an answer is there by it: a proposal gets its name, or a line is appended."""
    if call == "replace":
        return "proposals" in str(arguments[1])
    return call == "write" and not os.readlink(f"/proc/self/fd/{arguments[0]}").endswith(".tmp")


def answered(asked: Asked) -> Answer:
    """Selects what was said, merges what says the same, and sums up."""
    properties = (asked.schema or {})["properties"]
    if "merge" in properties:
        lines = [line for line in asked.turns[0].text.splitlines() if "make check" in line and "convention" in line]
        numbers = [int(line.partition(".")[0]) for line in lines if line[0].isdigit()]
        return json.dumps({"merge": [{"same": numbers}], "replace": [], "retire": [], "promote": []})
    if "summary" in properties:
        return json.dumps({"summary": "They talked about the upload worker 上传."})
    return selecting("make check", "提交信息")(asked)


def opened(root: Path, hours: float, killer: Killer | None = None) -> Catmem:
    """As another process opens it, some hours later. What a model is asked is counted in a file beside the data."""

    def answer(asked: Asked) -> Answer:
        with root.with_suffix(".asked").open("a") as file:
            file.write(json.dumps([asked.system, [turn.text for turn in asked.turns]]) + "\n")
        if killer:
            killer.unsaved = True
        return answered(asked)

    catmem = Catmem(root, clock=lambda: seconds_of(NOW) + hours * HOURS)
    vars(catmem)["settings"] = Settings(max_messages=8, archive_raw_after_days=0)
    vars(catmem)["working_model"] = ScriptedModel(answer)
    vars(catmem)["embedder"] = HashedEmbedder()
    return catmem


def work(root: Path, hours: float, kill_at: int = 0) -> dict[str, Any]:
    """The worker, in a process of its own. What it said of itself when it ended."""
    told = root.with_suffix(".told")
    told.unlink(missing_ok=True)

    def run() -> None:
        killer = Killer(kill_at, told)
        catmem = opened(root, hours, killer)
        with only_worker(catmem, wait=30):
            run_work(catmem, everything=True)
        catmem.close()
        killer.tell()
        os._exit(0)

    load_rulebook(), load_slots(), Classifier.load()  # Once for all children.
    process = multiprocessing.get_context("fork").Process(target=run)
    process.start()
    process.join(300)  # a second, on a machine that has time for it
    assert process.exitcode == (-signal.SIGKILL if kill_at else 0) or (kill_at and process.exitcode == 0)
    return {**json.loads(told.read_text()), "killed": process.exitcode != 0}


def asked(root: Path) -> list[str]:
    file = root.with_suffix(".asked")
    return file.read_text().splitlines() if file.exists() else []


def left(root: Path) -> dict[str, Any]:
    """What a person can see of a data directory, without the moments of it."""
    catmem = opened(root, 0)
    catmem.store.catch_up()
    memories = {
        (m.now.text, m.now.status, m.now.scope, m.now.confirmations, m.superseded_by or "",
         tuple(sorted((e.session, e.message_id, e.quote) for e in m.now.evidence)))
        for m in catmem.store.all()
    }  # fmt: skip
    refs = [header.ref for header in catmem.history.headers()]
    found = {
        "memories": memories,
        "messages": {ref.key: [(m.id, m.content) for m in catmem.history.messages(ref)] for ref in refs},
        "digests": [
            (d["session"], d["first_id"], d["last_id"], d["content"]) for d in read_digests(catmem.paths, PROJECT)
        ],
        "cursor": bool(catmem.store.dream_cursor(PROJECT)),
        "pending": len(catmem.distiller.pending()),
        "problems": [*catmem.store.problems(), *(p for ref in refs for p in catmem.history.check(ref))],
        "page": [line for line in page(root).splitlines() if line.startswith("- ")],
    }
    catmem.close()
    return found


def page(root: Path) -> str:
    file = root / "projects" / PROJECT / "memory" / "MEMORY.md"
    return file.read_text() if file.exists() else ""


def spans(root: Path) -> dict[str, list[tuple[int, int]]]:
    """The ranges of each session that the ledger says were distilled."""
    found: dict[str, list[tuple[int, int]]] = {}
    for path in (root / "ledger").glob("*.jsonl"):
        for line in map(json.loads, path.open()):
            if line.get("op") == "distilled":
                found.setdefault(line["job"]["session"], []).append((line["job"]["first_id"], line["job"]["last_id"]))
    return found


@pytest.fixture
def begun(tmp_path: Path) -> Path:
    """Three sessions that say something, and one that has outgrown its file."""
    root = tmp_path / "begun"
    for key, text in SAID.items():
        records = [said(1, "user", "what is the state of the build?"), said(2, "assistant"),
                   said(3, "user", text), said(4, "assistant"), said(5, "user", "show me the log"),
                   said(6, "assistant")]  # fmt: skip
        append(place(str(root), PROJECT, key), key, records, listing={"project": PROJECT}, durability="none")
    append(place(str(root), PROJECT, "long"), "long", talk(10), listing={"project": PROJECT}, durability="none")
    return root


def copied(begun: Path, name: str) -> Path:
    root = begun.with_name(name)
    shutil.copytree(begun, root)
    return root


PARTS = 4


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_killed_at_any_write_it_asks_nothing_twice_and_leaves_what_an_unbroken_one_leaves(
    begun: Path, part: int
) -> None:
    whole = copied(begun, "whole")
    steps = work(whole, 0)["steps"]
    work(whole, 3)
    expected, questions = left(whole), Counter(asked(whole))
    assert steps > 40 and len(questions) == len(SAID) + 2 and set(questions.values()) == {1}
    assert expected["pending"] == 0 and expected["cursor"] and len(expected["digests"]) == 1
    for step in range(1 + part, steps + 1, PARTS):
        root = copied(begun, f"step{step}")
        told = work(root, 0, step)
        assert told["killed"], step
        work(root, 3)
        if step % 5 == 0:
            work(root, 6)  # comes to rest
        again = Counter(asked(root)) - questions
        assert sum(again.values()) <= told["unsaved"], (step, again)
        assert left(root) == expected, step
        for ranges in spans(root).values():
            assert ranges[0][0] == 1 and all(a[1] + 1 == b[0] for a, b in pairwise(ranges)), step
        assert not list(root.glob("run/proposals/*/*.json")), step
        shutil.rmtree(root)
