"""Bringing memories.db up to the ledgers: new lines in, and the memories that they touch folded anew, in one step."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from catmem.domain.change import Change, change_from_record, change_to_record
from catmem.domain.fold import fold
from catmem.domain.memory import Memory, statement_hash
from catmem.ledger.ledger import Ledger
from catmem.store.records import memory_to_json


def catch_up(connection: sqlite3.Connection, ledger: Ledger) -> int:
    """Folds whatever the ledgers have beyond the database. Returns the number of new lines; run twice, 0."""
    if not any(_has_news(connection, path) for path in ledger.files()):
        return 0
    connection.execute("BEGIN IMMEDIATE")
    try:
        touched: set[str] = set()
        lines = 0
        for path in ledger.files():
            lines += _read_in(connection, ledger, path, touched)
        _fold_all(connection, touched)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    return lines


def _has_news(connection: sqlite3.Connection, path: Path) -> bool:
    status = path.stat()
    row = connection.execute("SELECT inode, end FROM ledgers WHERE device = ?", (path.stem,)).fetchone()
    return row is None or row != (status.st_ino, status.st_size)


def _read_in(connection: sqlite3.Connection, ledger: Ledger, path: Path, touched: set[str]) -> int:
    device, inode = path.stem, path.stat().st_ino
    row = connection.execute("SELECT inode, end FROM ledgers WHERE device = ?", (device,)).fetchone()
    if row and row[0] == inode:
        end = row[1]
    else:
        # A ledger that was replaced (rewritten by a forget, or by a syncing folder) is read from its start.
        end = 0
        touched.update(_drop_device(connection, device))
    lines = 0
    for line in ledger.read(path, end):
        end = line.end
        if line.change is not None:
            touched.update(_keep(connection, device, line.change))
            lines += 1
        elif line.problem:
            connection.execute("INSERT OR REPLACE INTO problems VALUES(?, ?, ?)", (device, line.start, line.problem))
    connection.execute("INSERT OR REPLACE INTO ledgers VALUES(?, ?, ?)", (device, inode, end))
    return lines


def _drop_device(connection: sqlite3.Connection, device: str) -> set[str]:
    touched = {row[0] for row in connection.execute("SELECT DISTINCT memory FROM touches WHERE device = ?", (device,))}
    for table in ("changes", "touches", "problems"):
        connection.execute(f"DELETE FROM {table} WHERE device = ?", (device,))
    return touched


def _keep(connection: sqlite3.Connection, device: str, change: Change) -> set[str]:
    """Files one change; returns the memories whose state it may alter. A line known already alters none."""
    record = json.dumps(change_to_record(change), ensure_ascii=False)
    known = connection.execute(
        "INSERT OR IGNORE INTO changes VALUES(?, ?, ?, ?, ?)", (device, change.seq, change.at, change.op, record)
    )
    if known.rowcount == 0:
        return set()
    touched = set(change.touches())
    connection.executemany(
        "INSERT OR IGNORE INTO touches VALUES(?, ?, ?)", [(memory, device, change.seq) for memory in touched]
    )
    for claim in change.claims:
        connection.execute("INSERT OR IGNORE INTO statements VALUES(?, ?)", (statement_hash(claim.text), claim.id))
    for hash in change.hashes:
        connection.execute("INSERT OR IGNORE INTO tombstones VALUES(?)", (hash,))
        touched.update(r[0] for r in connection.execute("SELECT memory FROM statements WHERE hash = ?", (hash,)))
    _keep_progress(connection, change)
    return touched


def _keep_progress(connection: sqlite3.Connection, change: Change) -> None:
    job = change.job
    if job is None or change.op != "distilled":
        return
    connection.execute(
        "INSERT INTO distilled VALUES(?, ?, ?, ?) ON CONFLICT(project, session) DO UPDATE SET"
        " at = max(at, excluded.at), last_id = max(last_id, excluded.last_id)",
        (job.project, job.session, job.last_id, change.at),
    )
    connection.execute("DELETE FROM jobs WHERE project = ? AND session = ?", (job.project, job.session))
    if change.digest:
        connection.execute(
            "INSERT OR REPLACE INTO digests VALUES(?, ?, ?, ?, ?, ?)",
            (
                job.project,
                job.session,
                job.first_id,
                job.last_id,
                change.at,
                json.dumps(change.digest, ensure_ascii=False),
            ),
        )


def _fold_all(connection: sqlite3.Connection, touched: set[str]) -> None:
    if not touched:
        return
    forgotten = frozenset(row[0] for row in connection.execute("SELECT hash FROM tombstones"))
    turn = int(connection.execute("SELECT value FROM meta WHERE name = 'turn'").fetchone()[0]) + 1
    connection.execute("UPDATE meta SET value = ? WHERE name = 'turn'", (str(turn),))
    for id in sorted(touched):
        rows = connection.execute(
            "SELECT c.record FROM touches t JOIN changes c ON c.device = t.device AND c.seq = t.seq WHERE t.memory = ?",
            (id,),
        )
        changes = [change_from_record(json.loads(row[0])) for row in rows]
        _write_memory(connection, id, fold(id, changes, forgotten), turn)


def _write_memory(connection: sqlite3.Connection, id: str, memory: Memory | None, turn: int) -> None:
    connection.execute("DELETE FROM evidence WHERE memory = ?", (id,))
    if memory is None:
        connection.execute("DELETE FROM memories WHERE id = ?", (id,))
        return
    now = memory.now
    connection.execute(
        "INSERT OR REPLACE INTO memories VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            id,
            memory.project,
            now.scope,
            now.kind,
            now.status,
            now.subject,
            now.predicate,
            now.text,
            now.pinned,
            now.confirmations,
            memory.updated_at,
            turn,
            memory_to_json(memory),
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO evidence VALUES(?, ?, ?, ?)",
        [(id, e.project, e.session, e.message_id) for revision in memory.revisions for e in revision.evidence],
    )
