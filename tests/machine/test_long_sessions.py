"""What compaction must never do to what a session means: memory, summary and history, whoever compacts and whenever."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from catmem.cli.work import Worked, only_worker, run_work
from catmem.domain.clock import seconds_of
from catmem.domain.session import SessionRef
from catmem.dream.compact import Compacted
from catmem.sessions.digests import read_digests
from catmem.sessions.file import append
from catmem.sessions.names import Place, place
from catmem.settings.schema import Settings
from catmem.wiring import Catmem
from tests.sessions.long import NOW, archived_lines, live_lines, said, talk

REF = SessionRef("webshop", "chat:1")


@pytest.fixture
def opened(tmp_path: Path) -> Any:
    """Opens the data directory as another process would, with sessions bounded to a few messages."""
    made: list[Catmem] = []

    def open_(folder: str = "data", **settings: Any) -> Catmem:
        catmem = Catmem(tmp_path / folder, clock=lambda: seconds_of(NOW))
        vars(catmem)["settings"] = Settings(**{"max_messages": 8, "archive_raw_after_days": 0, **settings})
        made.append(catmem)
        return catmem

    yield open_
    for catmem in made:
        catmem.close()


Opened = Callable[..., Catmem]


def tell(catmem: Catmem, *records: dict[str, Any]) -> Place:
    there = place(str(catmem.paths.root), REF.project, REF.key)
    append(there, REF.key, list(records), listing={"project": REF.project}, durability="none")
    return there


def work(catmem: Catmem) -> Worked:
    with only_worker(catmem, wait=0):
        return run_work(catmem, everything=True)


def remembered(catmem: Catmem) -> set[str]:
    return {memory.now.text for memory in catmem.store.live()}


def digests(catmem: Catmem) -> list[str]:
    return [digest["content"] for digest in read_digests(catmem.paths, REF.project)]


SAID = [
    said(1, "user", "Remember: the staging database listens on port 5432."),
    said(2, "assistant", "Noted."),
    said(3, "user", "以后提交说明都用中文写。"),
    said(4, "assistant", "好的。"),
]


def test_memory_comes_from_what_was_said_never_from_what_was_made_of_it(opened: Opened) -> None:
    """A session that was compacted before anyone distilled it gives the same memory as one that never was."""
    plain = opened("plain", max_messages=5000)
    tell(plain, *SAID, *talk(10, 10))
    work(plain)
    bounded = opened("bounded")
    there = tell(bounded, *SAID, *talk(10, 10))
    assert bounded.compactor.run() == Compacted(1, 0) and set(archived_lines(there)) >= {1, 2, 3, 4}
    work(bounded)
    assert remembered(bounded) == remembered(plain) != set()
    for memory in bounded.store.live():
        for evidence in memory.now.evidence:
            assert evidence.quote in {m.id: m.content for m in bounded.history.messages(REF)}[evidence.message_id]


@pytest.mark.parametrize(
    ("wrong", "right", "new"),
    [
        ("The release day is Tuesday.", "No, the release day is Friday, not Tuesday.", "Friday"),
        ("我们用 npm 管理依赖。", "不对，我们不用 npm，改用 pnpm 管理依赖。", "pnpm"),
    ],
)
def test_a_correction_at_the_end_is_what_counts_after_a_compaction(
    opened: Opened, wrong: str, right: str, new: str
) -> None:
    """It stands in what was kept; the summary of the part before must not be what the next session is told."""
    catmem = opened()
    tell(catmem, said(1, "user", wrong), said(2, "assistant"), *talk(5, 10))
    work(catmem)
    tell(catmem, said(90, "user", f"Remember: {right}"), said(91, "assistant"))
    work(catmem)
    assert catmem.compactor.run(rounds=0).failed == 0
    catmem.index.catch_up(catmem.store, catmem.history)
    for prompt in (None, "When is the release day? 我们用什么管理依赖？"):
        told = catmem.briefer.brief(REF.project, prompt).text
        assert new in told and wrong not in told


def test_two_who_compact_at_the_same_time_make_one_archive_and_one_summary(opened: Opened) -> None:
    there = tell(opened(), *talk(10))
    lines = live_lines(there)
    both = [opened() for _ in range(2)]
    start = threading.Barrier(2)

    def compact(catmem: Catmem) -> None:
        start.wait()
        catmem.compactor.run(rounds=0)

    threads = [threading.Thread(target=compact, args=(catmem,)) for catmem in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert both[0].compactor.run(rounds=0) == Compacted()
    assert {**archived_lines(there), **live_lines(there)} == lines
    assert not set(archived_lines(there)) & set(live_lines(there)) and archived_lines(there)
    ranges = [(d["first_id"], d["last_id"]) for d in read_digests(both[0].paths, REF.project)]
    assert len(ranges) == len(set(ranges)) == 1


def test_a_summary_is_there_once_after_a_restart_and_more_work(opened: Opened) -> None:
    first = opened()
    tell(first, *SAID, *talk(10, 10))
    assert first.compactor.run() == Compacted(1, 0)
    made = digests(first)
    first.close()
    for _ in range(2):
        again = opened()
        work(again)
        assert digests(again)[: len(made)] == made and len(set(digests(again))) == len(digests(again))
        left = digests(again)
        assert work(again) == Worked() and digests(again) == left
        again.close()


@pytest.mark.parametrize("step", ["archive_oldest", "add_digest", "consolidate", "trim"])
def test_a_step_that_fails_leaves_every_message_where_it_can_be_read(
    opened: Opened, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from catmem.domain.errors import StorageFailed

    catmem = opened()
    there = tell(catmem, *talk(10))
    lines, messages = live_lines(there), catmem.history.messages(REF)

    def refuse(*_: Any, **__: Any) -> None:
        raise StorageFailed("no space", "没有空间")

    with monkeypatch.context() as patched:
        patched.setattr(f"catmem.dream.compact.{step}", refuse)
        assert catmem.compactor.run(rounds=0) == Compacted(0, 1)
    assert {**archived_lines(there), **live_lines(there)} == lines
    assert catmem.history.messages(REF) == messages == opened().history.messages(REF)
    catmem.compactor.retry_all()
    assert catmem.compactor.run(rounds=0) == Compacted(1, 0)
    assert catmem.history.messages(REF) == messages


def test_three_messages_that_nobody_goes_on_with_are_archived_once(opened: Opened) -> None:
    catmem = opened(archive_raw_after_days=30)
    there = tell(catmem, said(1, "user"), said(2, "assistant"), said(3, "user"))
    assert catmem.compactor.run(rounds=0) == Compacted(1, 0)
    assert (set(archived_lines(there)), live_lines(there)) == ({1, 2, 3}, {})
    assert opened(archive_raw_after_days=30).compactor.run(rounds=0) == Compacted()
