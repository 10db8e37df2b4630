"""A long session whose summary a model makes, or cannot: no message is lost, no entry is larger than it should be, no
attempt is repeated for ever, and what was written starts nothing again."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catmem.cli.health import findings_of
from catmem.cli.work import Worked, only_worker, run_work
from catmem.domain.clock import seconds_of
from catmem.domain.session import SessionRef
from catmem.dream.compact import Compacted
from catmem.dream.compact_state import BREAKER
from catmem.llm.port import Completion, Failure
from catmem.llm.providers import models_of
from catmem.llm.scripted import Answer, Asked, ScriptedModel
from catmem.sessions.digests import read_digests
from catmem.sessions.file import append
from catmem.sessions.names import Place, place
from catmem.settings.schema import Settings
from catmem.wiring import Catmem
from tests.llm.fake_server import Reply, serving
from tests.sessions.long import NOW, archived_lines, live_lines, said, talk

PROJECT = "webshop"
DAY = 86400.0


class Bed:
    """A data directory with sessions bounded to a few messages, a clock that is set, and a model."""

    def __init__(self, root: Path, model: Any) -> None:
        self.root, self.days = root, 1.0
        self.model = ScriptedModel(model) if callable(model) or isinstance(model, list) else model

    def opened(self) -> Catmem:
        catmem = Catmem(self.root, clock=lambda: seconds_of(NOW) + self.days * DAY)
        vars(catmem)["settings"] = Settings(max_messages=8, archive_raw_after_days=0)
        vars(catmem)["working_model"] = self.model
        return catmem

    def tell(self, key: str, *records: dict[str, Any]) -> Place:
        there = place(str(self.root), PROJECT, key)
        append(there, key, list(records), listing={"project": PROJECT}, durability="none")
        return there

    def compact(self) -> Compacted:
        """As another process, a day later."""
        self.days += 1
        catmem = self.opened()
        done = catmem.compactor.run(rounds=0)
        catmem.close()
        return done

    def work(self) -> Worked:
        self.days += 1
        catmem = self.opened()
        with only_worker(catmem, wait=0):
            done = run_work(catmem, everything=True)
        catmem.close()
        return done

    def digests(self, key: str) -> list[str]:
        found = read_digests(self.opened().paths, PROJECT)
        return [digest["content"] for digest in found if digest["session"] == key]

    def findings(self) -> list[str]:
        catmem = self.opened()
        catmem.store.catch_up()
        told = [f"{finding.en} {finding.zh}" for finding in findings_of(catmem, deep=False)]
        catmem.close()
        return told


def answering(text: str) -> Callable[[Asked], Answer]:
    return lambda asked: text


def whole(there: Place) -> dict[int, bytes]:
    """All lines, live or archived; what is archived and not summed up is in both, the same."""
    live, archived = live_lines(there), archived_lines(there)
    assert all(line == live.get(id, line) for id, line in archived.items())
    return {**archived, **live}


DOWN = Failure("connection refused", "连接被拒绝", remedy="later", kind="unreachable")
USELESS = ["{}", "[]", "7", "null", '{"summary": {"x": 1}}', '{"summary": ["x"]}', '{"summary": null}', "", "  \n",
           '{"summary": "cut', Completion('{"summary": "They moved"}', "length"),
           Completion("I cannot help with that.", "refusal")]  # fmt: skip


@pytest.mark.parametrize("useless", [DOWN, *USELESS], ids=lambda it: str(it)[:24])
def test_after_a_few_useless_answers_the_rules_make_one_entry_and_nothing_was_lost(
    tmp_path: Path, useless: Answer
) -> None:
    bed = Bed(tmp_path / "data", lambda asked: useless)
    there = bed.tell("chat:1", *talk(10))
    lines = live_lines(there)
    for attempt in range(1, BREAKER + 1):
        assert bed.compact() == Compacted(0, 1), "an error is no exception"
        assert whole(there) == lines and bed.digests("chat:1") == []
        assert len(bed.model.asked) == attempt
        assert any("chat:1" in told for told in bed.findings()), "a user sees it"
    assert bed.compact() == Compacted(1, 0)
    assert whole(there) == lines and len(bed.digests("chat:1")) == 1
    assert archived_lines(there) and not set(archived_lines(there)) & set(live_lines(there))
    assert bed.compact() == Compacted() and len(bed.model.asked) == BREAKER
    assert not any("chat:1" in told for told in bed.findings())


def test_a_megabyte_that_no_model_sums_up_leaves_one_short_entry(tmp_path: Path) -> None:
    pasted = "\n".join(f"row {number}: 数据 {number * 7919 % 10007}" for number in range(60_000))
    assert len(pasted) > 1_000_000
    bed = Bed(tmp_path / "data", lambda asked: DOWN)
    there = bed.tell(
        "chat:1", said(1, "user", "看看这些数据，look at this:\n" + pasted), said(2, "assistant"), *talk(10, 3)
    )
    lines = live_lines(there)
    for _ in range(BREAKER + 2):
        bed.compact()
    (entry,) = bed.digests("chat:1")
    assert len(entry.encode()) <= 1000 and whole(there) == lines
    assert b"row 59999" in archived_lines(there)[1]


@pytest.mark.parametrize(
    "reply",
    [
        Reply(pieces=('{"summary": "They moved to port 30."}',), finish="length"),
        Reply(pieces=()),
        Reply(pieces=("   ",), whole=True),
        Reply(raw=b'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"save",'
              b'"arguments":"{}"}}]}}]}\n\ndata: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n'
              b"data: [DONE]\n\n"),
    ],
    ids=["cut off", "nothing", "blank", "only a tool call"],
)  # fmt: skip
def test_an_answer_over_the_wire_that_is_no_whole_one_is_no_summary(tmp_path: Path, reply: Reply) -> None:
    with serving(reply) as server:
        rows = [{"name": "small", "api": "openai", "base_url": f"{server.url}/v1", "model": "m"}]
        bed = Bed(tmp_path / "data", models_of(rows, lambda *_: None))
        there = bed.tell("chat:1", *talk(10))
        lines = live_lines(there)
        assert bed.compact() == Compacted(0, 1)
        assert server.requests and all("tools" not in body for body in server.bodies)
    assert whole(there) == lines and bed.digests("chat:1") == []


def test_while_a_model_hangs_the_session_goes_on(tmp_path: Path) -> None:
    hangs, leave = threading.Event(), threading.Event()

    def hang(asked: Asked) -> Answer:
        hangs.set()
        leave.wait(30)
        return Failure("timed out", "超时", remedy="another", kind="hang")

    bed = Bed(tmp_path / "data", hang)
    there = bed.tell("chat:1", *talk(10))
    compacting = threading.Thread(target=bed.compact)
    compacting.start()
    assert hangs.wait(30)
    bed.tell("chat:1", said(90, "user", "等一下，port 6000!"))
    assert b"port 6000" in live_lines(there)[41]
    leave.set()
    compacting.join(30)
    assert len(whole(there)) == 41 and bed.digests("chat:1") == []


@pytest.mark.parametrize(("word", "other"), [("Postgres", "RabbitMQ-7"), ("青花瓷", "5433 端口")])
def test_the_words_of_one_session_are_in_no_question_about_another(tmp_path: Path, word: str, other: str) -> None:
    bed = Bed(tmp_path / "data", answering('{"summary": "They talked 谈了谈."}'))
    for key, marker in (("chat:1", word), ("chat:2", other)):
        bed.tell(key, *(said(n, ("assistant", "user")[n % 2], f"{marker} was named in {n}.") for n in range(1, 41)))
    assert bed.compact() == Compacted(2, 0) and len(bed.model.asked) == 2
    for asked in bed.model.asked:
        assert (word in asked.turns[0].text) != (other in asked.turns[0].text)
    # A model that brings the words of the one into the other is refused where they are a name or a number.
    assert {len(bed.digests(key)) for key in ("chat:1", "chat:2")} == {1}


def test_what_the_worker_wrote_starts_nothing_again(tmp_path: Path) -> None:
    """A summary, a digest, a page and a line of the ledger are no news to the worker that wrote them."""

    def answer(asked: Asked) -> Answer:
        fields = (asked.schema or {})["properties"]
        empty = {"merge": [], "replace": [], "retire": [], "promote": []}
        nothing = {"facts": [], "decisions": [], "questions": [], "digest": {"progress": "", "topics": []}}
        return json.dumps(
            {"summary": "They asked."} if "summary" in fields else empty if "merge" in fields else nothing
        )

    bed = Bed(tmp_path / "data", answer)
    bed.tell("chat:1", *talk(10))
    bed.tell(
        "chat:2", said(1, "user", "Remember: we deploy with ansible. 以后提交说明都用中文写。"), said(2, "assistant")
    )
    bed.tell("chat:3", said(1, "user", "what is the state of the build? we run make check first"), said(2, "assistant"))
    first = bed.work()
    assert (first.distilled, first.compacted, first.pending) == (3, 1, 0) and bed.digests("chat:1") == ["They asked."]
    bed.work()
    asked, files = len(bed.model.asked), _files(bed.root)
    for _ in range(4):
        assert bed.work() == Worked()
        assert len(bed.model.asked) == asked and _files(bed.root) == files


def _files(root: Path) -> dict[str, bytes]:
    """What is kept, without what only a process needs."""
    kept = ("messages", "ledger", "projects", "memory")
    return {
        str(path.relative_to(root)): path.read_bytes()
        for folder in kept
        for path in sorted((root / folder).rglob("*"))
        if path.is_file()
    }


def test_a_session_is_read_raw_after_it_was_compacted(tmp_path: Path) -> None:
    """Memory comes from what was said, never from a summary, which a model wrote."""
    bed = Bed(tmp_path / "data", answering('{"summary": "We always deploy with Kubernetes. 以后都用 Kubernetes。"}'))
    bed.tell("chat:1", *talk(10), said(90, "user", "Remember: we deploy with ansible."), said(91, "assistant"))
    bed.compact()
    assert bed.digests("chat:1") == ["We always deploy with Kubernetes. 以后都用 Kubernetes。"]
    bed.model = ScriptedModel(lambda asked: DOWN)
    bed.work()
    catmem = bed.opened()
    texts = [memory.now.text for memory in catmem.store.live()]
    assert any("ansible" in text for text in texts) and not any("Kubernetes" in text for text in texts)
    assert [m.id for m in catmem.history.messages(SessionRef(PROJECT, "chat:1"))] == list(range(1, 43))
    catmem.close()
