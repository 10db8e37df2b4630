"""The queue: what sessions have and distilling has not seen; failures wait longer and longer, then park."""

from __future__ import annotations

import pytest

from catmem.domain.clock import seconds_of
from catmem.domain.session import SessionHeader
from catmem.store.jobs import FIRST_WAIT_MINUTES, MAX_ATTEMPTS, JobQueue
from tests.domain.samples import claim_about, distilled, moment


def header(key: str, last_id: int, at: int = 0) -> SessionHeader:
    return SessionHeader(key, "", "", moment(at), moment(at), 0, {"project": "shop", "last_id": last_id})


@pytest.fixture
def queue(store, paths):
    return JobQueue(paths, store)


def test_pending_is_what_has_messages_after_the_last_distilled_one(queue, store):
    headers = [header("s1", 9), header("会话", 3, 5), header("empty", 0)]
    assert [job.header.key for job in queue.pending(headers)] == ["s1", "会话"]
    store.commit([distilled(claim_about(session="s1"), 70)])
    assert [job.header.key for job in queue.pending(headers)] == ["会话"]
    assert queue.distilled_to(headers[0].ref) == 9 and queue.distilled_to(headers[1].ref) == 0
    again = queue.pending([header("s1", 12)])[0]
    assert again.distilled_to == 9
    store.rebuild()
    assert queue.pending([header("s1", 12)])[0] == again


def test_failures_back_off_and_park_and_are_counted_across_processes(queue, store, paths):
    waits = []
    for attempt in range(MAX_ATTEMPTS):
        job = queue.pending([header("s1", 9)])[0]
        assert job.attempts == attempt and not job.parked
        queue.failed(job, "ModelFailed: 没有回答 " + "x" * 900, moment(0))
        after = JobQueue(paths, store).pending([header("s1", 9)])[0]
        waits.append(round((seconds_of(after.not_before) - seconds_of(moment(0))) / 60))
    assert waits == [FIRST_WAIT_MINUTES * 2**n for n in range(MAX_ATTEMPTS)]
    assert after.parked and len(after.error) == 500
    queue.retry_all()
    assert queue.pending([header("s1", 9)])[0].attempts == 0


def test_a_success_clears_the_failures_but_reading_old_lines_again_does_not(queue, store):
    queue.failed(queue.pending([header("s1", 9)])[0], "broke", moment(0))
    store.commit([distilled(claim_about(session="s1"), 70)])
    queue.failed(queue.pending([header("s1", 20)])[0], "broke again", moment(0))
    store.commit([distilled(claim_about(1, "小明", session="s2"), 70)])
    store.forget([claim_about(1).id])
    assert queue.pending([header("s1", 20)])[0].attempts == 1
