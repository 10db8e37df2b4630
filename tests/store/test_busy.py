"""Many who write while somebody holds the database and somebody checks it: every row is there, and nobody is refused."""

from __future__ import annotations

import multiprocessing
import sqlite3
import time

import pytest

from catmem.domain.session import SessionRef
from catmem.ledger import ledger
from catmem.ledger.ledger import Ledger
from catmem.sessions.file import append
from catmem.sessions.names import place
from catmem.sessions.records import message_record
from catmem.settings.paths import Paths
from catmem.store import database
from catmem.store.memories import MemoryStore
from tests.domain.samples import claim_about, distilled
from tests.sessions.support import history_in

WRITERS, ROUNDS, ROWS = 8, 50, 10
HELD_SECONDS = 3.0
STAMP = "2026-03-01T10:00:00.000Z"


def _write(paths: Paths, number: int) -> None:
    """A writer's 500 memories, and as many messages."""
    store, key = MemoryStore(paths, Ledger(paths)), f"写者:{number}"
    for turn in range(ROUNDS):
        names = [f"tool-{number}-{turn}-{row}" for row in range(ROWS)]
        said = [message_record("user", f"我们用 {name}", STAMP, uid=name) for name in names]
        append(place(str(paths.root), "shop", key), key, said, listing={"project": "shop"}, durability="none", wait=60)
        store.commit([distilled(claim_about(0, name, 1, session=key, many=True), 2) for name in names])
    store.close()


def _hold(paths: Paths) -> None:
    """Keeps the one right to write, in the midst of it."""
    connection = sqlite3.connect(paths.database, timeout=60, isolation_level=None)
    time.sleep(0.3)
    connection.execute("BEGIN IMMEDIATE")
    time.sleep(HELD_SECONDS)
    connection.execute("ROLLBACK")
    connection.close()


@pytest.mark.slow
def test_eight_writers_a_holder_and_a_checker(
    paths: Paths, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody waits for so long on a machine that has time for them.
    monkeypatch.setattr(ledger, "LOCK_SECONDS", 120.0)
    monkeypatch.setattr(database, "BUSY_SECONDS", 120.0)
    store.catch_up()
    store.close()
    context = multiprocessing.get_context("fork")
    writers = [context.Process(target=_write, args=(paths, number)) for number in range(WRITERS)]
    holder = context.Process(target=_hold, args=(paths,))
    for process in (*writers, holder):
        process.start()
    checker = sqlite3.connect(paths.database, timeout=60)
    checks = []
    while any(writer.is_alive() for writer in writers):
        checks.append(checker.execute("PRAGMA integrity_check").fetchone()[0])
        time.sleep(0.05)
    checker.close()
    for process in (*writers, holder):
        process.join(300)
    assert [process.exitcode for process in (*writers, holder)] == [0] * (WRITERS + 1)
    assert len(checks) > 3 and set(checks) == {"ok"}
    expected = {f"tool-{w}-{t}-{row}" for w in range(WRITERS) for t in range(ROUNDS) for row in range(ROWS)}
    found = MemoryStore(paths, Ledger(paths))
    found.catch_up()
    live = found.live()
    assert len(live) == len(expected) == 4000 and {memory.now.object for memory in live} == expected
    assert found.problems() == []
    found.close()
    history = history_in(paths.root)
    said = [m.uid for w in range(WRITERS) for m in history.messages(SessionRef("shop", f"写者:{w}"))]
    assert len(said) == len(expected) and set(said) == expected
