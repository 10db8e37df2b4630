"""Background work comes to rest: done twice it changes nothing, nothing waits, and every count agrees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from catmem.cli.health import findings_of
from catmem.cli.work import Worked, only_worker, run_work
from catmem.domain.clock import seconds_of
from catmem.sessions.file import append
from catmem.sessions.names import place
from catmem.sessions.records import message_to_record
from catmem.settings.schema import Settings
from catmem.wiring import Catmem
from tests.sessions.long import NOW, said, strictly_valid, transcripts


def worked(catmem: Catmem) -> Worked:
    with only_worker(catmem, wait=0):
        return run_work(catmem, everything=True)


def counts(catmem: Catmem) -> dict[str, int]:
    return {header.key: header.count for header in catmem.history.headers()}


def files(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in (root / "messages").rglob("*") if path.is_file()}


@given(st.lists(transcripts(), min_size=1, max_size=3), st.sampled_from([0, 30]))
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_work_done_twice_changes_nothing(
    tmp_path_factory: Any, talks: list[list[dict[str, Any]]], archive_after: int
) -> None:
    root = tmp_path_factory.mktemp("rest")
    catmem = Catmem(root, clock=lambda: seconds_of(NOW))
    # Small, so that transcripts of a few messages are compacted.
    vars(catmem)["settings"] = Settings(max_messages=8, archive_raw_after_days=archive_after)
    for number, talk in enumerate(talks):
        key = f"chat:{number}"
        records = [said(90, "user"), *talk, said(98, "user"), said(99, "assistant")]
        append(place(str(root), "webshop", key), key, records, listing={"project": "webshop"}, durability="none")
    before = counts(catmem)
    first = worked(catmem)
    assert (first.distilled, first.failed, first.pending) == (len(talks), 0, 0)
    assert counts(catmem) == before, "what nobody said is not counted"
    left = files(root)
    assert worked(catmem) == Worked() and catmem.distiller.pending() == [] and files(root) == left
    # A result whose call never came is told of, once; nothing else is wrong.
    for finding in findings_of(catmem, deep=True):
        assert "result-alone" in finding.en and finding.repair
        finding.repair()
    assert findings_of(catmem, deep=True) == [] and worked(catmem) == Worked()
    for header in catmem.history.headers():
        assert strictly_valid([message_to_record(m) for m in catmem.history.messages(header.ref)])
    catmem.close()
