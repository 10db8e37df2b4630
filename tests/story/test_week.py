"""A week in a minute: sessions, two workers that take turns, a model that fails a third of the time, and a user who edits
the pages meanwhile. Nothing waits for ever, nothing is there twice, and what the user wrote stands."""

from __future__ import annotations

import json
import random
from collections import Counter
from datetime import UTC, datetime

from catmem.capture.importing import Importer
from catmem.cli.work import only_worker, run_work
from catmem.domain.clock import stamp
from catmem.domain.memory import normal
from catmem.llm.misbehaving import everything, nothing
from catmem.llm.port import Failure
from catmem.llm.scripted import Answer, Asked, ScriptedModel
from catmem.wiring import Catmem

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC).timestamp()
SESSIONS = 60
TOPICS = (
    "We use {} for the checkout service.",
    "支付服务的端口是 {}。",
    "The {} job runs every night.",
    "Let us go with {} instead of cron.",
    "我习惯先看 {} 的日志。",
)
FAILURES = (
    Failure("timed out", "超时", remedy="another", kind="timeout"),
    Failure("429", "429", remedy="later", rest=60, kind="429"),
    Failure("broke off", "中断", remedy="another", kind="stream-died"),
)


class Week:
    def __init__(self, root) -> None:
        self.root = root
        self.moment = MONDAY
        self.dice = random.Random(7)
        self.failing = 0.3
        self.model = ScriptedModel(self._answer)
        self.workers = [self._worker(), self._worker()]

    def _worker(self) -> Catmem:
        catmem = Catmem(self.root, clock=lambda: self.moment)
        catmem.__dict__["working_model"] = self.model  # as if it were configured
        return catmem

    def _answer(self, asked: Asked) -> Answer:
        if self.dice.random() < self.failing:
            return self.dice.choice((*FAILURES, ["Sure, here it is:"], ["{"], [""]))
        return (nothing if "merge" in json.dumps(asked.schema) else everything)(asked)

    def talk(self, number: int) -> None:
        """One session, as an import brings it; the last line of some is cut by a user who left."""
        at = stamp(self.moment)
        lines = [("user", TOPICS[number % len(TOPICS)].format(f"tool{number}")), ("assistant", "ok 好的")]
        rows = [
            {"session": f"s{number}", "project": "shop", "role": role, "content": text, "timestamp": at}
            for role, text in lines
        ]
        path = self.root.parent / f"s{number}.jsonl"
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")
        Importer(self.workers[0].history, project_of=lambda cwd: "shop").run([path])

    def work(self, everything: bool = False) -> None:
        catmem = self.workers[self.dice.randrange(2)]
        with only_worker(catmem, wait=5):
            run_work(catmem, everything=everything)

    @property
    def page(self):
        return self.root / "projects" / "shop" / "memory" / "MEMORY.md"


def test_a_week(tmp_path):
    week = Week(tmp_path / "catmem")
    mine = "# Notes of mine 我的笔记\n\n- not a memory\n"
    edited = False
    for number in range(SESSIONS):
        week.talk(number)
        week.moment += 2.8 * 3600
        if number % 3 == 2:
            week.work()
        if number == 20:
            text = week.page.read_text("utf-8")
            line = next(line for line in text.splitlines() if line.startswith("- ") and "tool" in line)
            statement = line[2 : line.index(" <!--")]
            text = text.replace(statement, f"{statement.rstrip('.。')}, except on Sundays")
            week.page.write_text(mine + text + "\nbehind it 后面\n", "utf-8")
            edited = True
        if number == 40:
            text = week.page.read_text("utf-8")
            week.page.write_text(
                text.replace("<!-- catmem:end -->", "- 手写：发布前通知 Mia\n\n<!-- catmem:end -->"), "utf-8"
            )
    week.failing = 0.0
    for _ in range(8):
        week.moment += 36 * 3600
        week.work(everything=True)

    catmem = week.workers[0]
    catmem.store.catch_up()
    pending = catmem.distiller.pending()
    assert [job for job in pending if not job.parked] == []
    done = {h.ref for h in catmem.history.headers()} - {job.ref for job in pending}
    assert len(done) + len(pending) == SESSIONS, "distilled + parked = all"

    live = catmem.store.live("shop")
    assert [text for text, count in Counter(normal(m.now.text) for m in live).items() if count > 1] == []
    texts = [memory.now.text for memory in live]
    assert edited and sum("except on Sundays" in text for text in texts) == 1
    assert any(text == "手写：发布前通知 Mia" for text in texts)
    page = week.page.read_text("utf-8")
    assert page.startswith(mine) and page.endswith("\nbehind it 后面\n")
    assert all(f"<!-- {m.id} -->" in page for m in live if m.now.scope == "project")

    ledger = b"".join(path.read_bytes() for path in catmem.paths.ledger.glob("*.jsonl"))
    asked, written = len(week.model.asked), len(ledger)
    week.moment += 36 * 3600
    week.work(everything=True)
    again = b"".join(path.read_bytes() for path in catmem.paths.ledger.glob("*.jsonl"))
    assert (len(week.model.asked), len(again)) == (asked, written), "nothing new, nothing asked, nothing written"
