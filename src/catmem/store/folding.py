"""Bringing memories.db up to the ledgers: new lines in, and the memories that they touch folded anew, in one step."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from catmem.domain.change import Change
from catmem.domain.change_record import change_from_record, change_to_record
from catmem.domain.errors import DataDamaged, StorageFailed
from catmem.domain.fold import fold
from catmem.domain.forgetting import Tombstones, sources_of, tombstones_of, without_words
from catmem.domain.memory import Memory, statement_hash
from catmem.ledger.ledger import Ledger
from catmem.ledger.lines import Line
from catmem.store.records import memory_to_json

# One line may be about thousands of memories (an import), and is read once for all of them.
_LINES_HELD = 32


@contextlib.contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    """One step: all of it, or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def catch_up(connection: sqlite3.Connection, ledger: Ledger) -> int:
    """Folds whatever the ledgers have beyond the database. Returns the number of new lines; run twice, 0."""
    if not any(_has_news(connection, path) for path in ledger.files()):
        return 0
    with writing(connection):
        return fold_news(connection, ledger)


def fold_news(connection: sqlite3.Connection, ledger: Ledger) -> int:
    """`catch_up` within a step of the caller."""
    reading = _Reading(connection, ledger)
    reading.read([path for path in ledger.files() if _has_news(connection, path)])
    _fold_all(connection, reading.touched)
    return reading.lines


def tombstones(connection: sqlite3.Connection) -> Tombstones:
    """All that was ever forgotten, as far as the database knows."""
    rows = connection.execute("SELECT record FROM changes WHERE op = 'forget'")
    return tombstones_of(change_of(row[0]) for row in rows)


def _state(path: Path) -> tuple[int, int, int] | None:
    """What tells that a file is as it was: inode, time and size. None if a syncing program just took it away."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageFailed(f"cannot read {path}: {error.strerror}", f"无法读取 {path}：{error.strerror}") from error
    return status.st_ino, status.st_mtime_ns, status.st_size


def _has_news(connection: sqlite3.Connection, path: Path) -> bool:
    row = connection.execute("SELECT inode, mtime, size FROM ledgers WHERE device = ?", (path.stem,)).fetchone()
    state = _state(path)
    return state is not None and row != state


class _Reading:
    """One reading of the ledgers' news into the database: how many lines, and the memories that they touch."""

    def __init__(self, connection: sqlite3.Connection, ledger: Ledger) -> None:
        self._connection = connection
        self._ledger = ledger
        self._tombstones = Tombstones()
        self.lines = 0
        self.touched: set[str] = set()

    def read(self, paths: list[Path]) -> None:
        starts = {path: self._start(path) for path in paths}
        known = tombstones(self._connection)
        forgets = [
            line.change
            for path, start in starts.items()
            for line in self._ledger.read(path, start, holding=b'"forget"')
            if line.change is not None and line.change.op == "forget"
        ]
        # Known before any line is read in, so that no forgotten word gets into the database or its log.
        self._tombstones = tombstones_of((*self._known_forgets(), *forgets))
        if forgets and self._tombstones != known:
            self._take_words_away(forgets)
        for path, start in starts.items():
            self._read_in(path, start)

    def _known_forgets(self) -> Iterable[Change]:
        rows = self._connection.execute("SELECT record FROM changes WHERE op = 'forget'").fetchall()
        return (change_of(row[0]) for row in rows)

    def _start(self, path: Path) -> int:
        """Where to read on. A ledger that was rewritten, by a forget or by a syncing folder, is read from its start."""
        row = self._connection.execute("SELECT inode, end, mark FROM ledgers WHERE device = ?", (path.stem,)).fetchone()
        state = _state(path)
        if row and state and row[0] == state[0] and row[1] <= state[2] and self._ledger.mark(path, row[1]) == row[2]:
            return int(row[1])
        return 0

    def _read_in(self, path: Path, start: int) -> None:
        device, state = path.stem, _state(path)
        if state is None:
            return
        before = self._take_out(device) if start == 0 else {}
        end = start
        for line in self._ledger.read(path, start):
            end = line.end
            if line.change is not None:
                self._keep(device, line, line.change, before)
            elif line.problem:
                self._report(device, line.start, line.problem)
        for record in before.values():
            self.touched.update(change_of(record).touches())
        self._connection.execute(
            "INSERT OR REPLACE INTO ledgers VALUES(?, ?, ?, ?, ?, ?)",
            (device, *state, end, self._ledger.mark(path, end)),
        )

    def _take_out(self, device: str) -> dict[int, str]:
        """Removes all that was read from a ledger; returns its lines, to tell which of them have changed."""
        rows = self._connection.execute("SELECT seq, record FROM changes WHERE device = ?", (device,)).fetchall()
        for table in ("changes", "touches", "distilled", "digests", "problems"):
            self._connection.execute(f"DELETE FROM {table} WHERE device = ?", (device,))
        return dict(rows)

    def _keep(self, device: str, line: Line, said: Change, before: dict[int, str]) -> None:
        change = without_words(said, self._tombstones)
        if change is not said:
            _leave_unwiped(self._connection)
        record = json.dumps(change_to_record(change), ensure_ascii=False)
        row = (device, change.seq, change.at, change.op, record)
        if self._connection.execute("INSERT OR IGNORE INTO changes VALUES(?, ?, ?, ?, ?)", row).rowcount == 0:
            self._report(device, line.start, f"a second line with number {change.seq}")
            return
        self.lines += 1
        memories = change.touches()
        self._connection.executemany(
            "INSERT OR IGNORE INTO touches VALUES(?, ?, ?)", [(id, device, change.seq) for id in memories]
        )
        self._connection.executemany("INSERT OR IGNORE INTO statements VALUES(?, ?)", _statements(change))
        old = before.pop(change.seq, "")
        self._keep_progress(device, change, is_new=not old)
        if old != record:
            self.touched.update(memories)
            self.touched.update(change_of(old).touches() if old else ())

    def _keep_progress(self, device: str, change: Change, *, is_new: bool) -> None:
        job = change.job
        if job is None or change.op != "distilled":
            return
        place = (job.project, job.session)
        if is_new:
            self._connection.execute("DELETE FROM jobs WHERE project = ? AND session = ?", place)
        self._connection.execute(
            "INSERT OR REPLACE INTO distilled VALUES(?, ?, ?, ?, ?)", (*place, device, change.seq, job.last_id)
        )
        if change.digest:
            digest = json.dumps(change.digest, ensure_ascii=False)
            row = (*place, device, change.seq, job.first_id, change.at, digest)
            self._connection.execute("INSERT OR REPLACE INTO digests VALUES(?, ?, ?, ?, ?, ?, ?)", row)

    def _take_words_away(self, forgets: Iterable[Change]) -> None:
        """Rewrites the lines kept already that hold a word of what was forgotten now."""
        _leave_unwiped(self._connection)
        places = set[tuple[str, int]]()
        for sql, values in _lines_with_words(forgets):
            places.update(self._connection.execute(sql, values))
        for place in sorted(places):
            row = self._connection.execute("SELECT record FROM changes WHERE device = ? AND seq = ?", place).fetchone()
            said = change_of(row[0])
            kept = without_words(said, self._tombstones)
            if kept is said:
                continue
            record = json.dumps(change_to_record(kept), ensure_ascii=False)
            self._connection.execute("UPDATE changes SET record = ? WHERE device = ? AND seq = ?", (record, *place))
            if kept.digest is None:
                self._connection.execute("DELETE FROM digests WHERE device = ? AND seq = ?", place)
            self.touched.update(said.touches())

    def _report(self, device: str, start: int, problem: str) -> None:
        self._connection.execute("INSERT OR REPLACE INTO problems VALUES(?, ?, ?)", (device, start, problem))


def _lines_with_words(forgets: Iterable[Change]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The questions that find every line which may hold words of what `forgets` are about."""
    for change in forgets:
        for id in change.ids:
            yield "SELECT device, seq FROM touches WHERE memory = ?", (id,)
        for hash in change.hashes:
            by_hash = "SELECT memory FROM statements WHERE hash = ?"
            yield f"SELECT device, seq FROM touches WHERE memory IN ({by_hash})", (hash,)
        for project, session in sources_of(change):
            yield "SELECT device, seq FROM digests WHERE project = ? AND session = ?", (project, session)


def _statements(change: Change) -> Iterator[tuple[str, str]]:
    """Under which hashes the words of a line are found again: its statements, and the sentences they came from."""
    for claim in change.claims:
        for text in {claim.text, *(e.quote for e in claim.evidence)} - {""}:
            yield statement_hash(text), claim.id
    if change.op == "import":
        for entry in change.records:
            for text in {entry["text"], *(e["quote"] for e in entry["evidence"])} - {""}:
                yield statement_hash(text), entry["id"]


def change_of(record: str) -> Change:
    """A change as it was kept. Raises DataDamaged."""
    try:
        return change_from_record(json.loads(record))
    except ValueError as error:
        raise DataDamaged(f"a row of memories.db is damaged: {error}", f"memories.db 有一行已损坏：{error}") from error


def _leave_unwiped(connection: sqlite3.Connection) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES('unwiped', '1')")


def _fold_all(connection: sqlite3.Connection, touched: set[str]) -> None:
    if not touched:
        return
    row = connection.execute("SELECT value FROM meta WHERE name = 'turn'").fetchone()
    if row is None:
        raise DataDamaged("memories.db has lost its turn", "memories.db 丢失了折叠计数")
    turn = int(row[0]) + 1
    connection.execute("UPDATE meta SET value = ? WHERE name = 'turn'", (str(turn),))

    @functools.lru_cache(maxsize=_LINES_HELD)
    def change_at(device: str, seq: int) -> Change:
        sql = "SELECT record FROM changes WHERE device = ? AND seq = ?"
        return change_of(connection.execute(sql, (device, seq)).fetchone()[0])

    for id in sorted(touched):
        places = connection.execute("SELECT device, seq FROM touches WHERE memory = ?", (id,)).fetchall()
        # The lines have lost forgotten words already, so the fold need not know of them.
        _write_memory(connection, id, fold(id, [change_at(*place) for place in places]), turn)


def _write_memory(connection: sqlite3.Connection, id: str, memory: Memory | None, turn: int) -> None:
    row = connection.execute("SELECT record FROM memories WHERE id = ?", (id,)).fetchone()
    record = memory_to_json(memory) if memory else ""
    if row and row[0] == record:
        return
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
            record,
        ),
    )
    connection.executemany(
        "INSERT OR IGNORE INTO evidence VALUES(?, ?, ?, ?)",
        [(id, e.project, e.session, e.message_id) for revision in memory.revisions for e in revision.evidence],
    )
