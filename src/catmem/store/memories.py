"""The memories of a data directory: what is live, what it was, who said so; and the one way to change them."""

from __future__ import annotations

import dataclasses
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from catmem.domain.change import Change, change_from_record, change_to_record
from catmem.domain.clock import Clock, system_clock
from catmem.domain.errors import BadInput, DataDamaged, LockBusy, NotFound, StorageFailed, VersionConflict
from catmem.domain.forgetting import Tombstones, heard, stone_record, without_words, wordless
from catmem.domain.memory import Memory, statement_hash
from catmem.ledger.ledger import Ledger
from catmem.settings.paths import Paths
from catmem.store.database import open_database, open_readonly, remove, remove_old_copies, set_aside, translated
from catmem.store.folding import catch_up, change_of, fold_news, tombstones
from catmem.store.records import memory_from_json

# How often a writer that lost the race proposes again; the last time it holds the lock and cannot lose.
_ATTEMPTS = 5
# A reader in a hook would rather do without than make its host wait.
READONLY_BUSY_SECONDS = 0.2
# A forget waits so long for readers of the old state; then it makes the database anew and leaves them the old file.
_WIPE_SECONDS = 2.0

_Answer = TypeVar("_Answer")


class MemoryStore:
    """memories.db over the ledgers. `catch_up` folds what the ledgers have gained; readings show what is folded.

    The database may be deleted or damaged at any time: it is made anew when that is met.
    """

    def __init__(self, paths: Paths, ledger: Ledger, clock: Clock = system_clock, *, readonly: bool = False) -> None:
        self._paths = paths
        self._ledger = ledger
        self._clock = clock
        self._readonly = readonly
        self._opened: sqlite3.Connection | None = None
        self._inode = 0

    @property
    def connection(self) -> sqlite3.Connection:
        """The database, folded up to date when it is opened; opened again if the file was replaced."""
        if self._opened is not None and self._inode != self._inode_now():
            self.close()
        if self._opened is None and self._readonly:
            self._opened = open_readonly(self._paths.database, READONLY_BUSY_SECONDS)
            self._inode = self._inode_now()
        elif self._opened is None:
            self._opened = open_database(self._paths, self._clock)
            self._inode = self._inode_now()
            catch_up(self._opened, self._ledger)
        return self._opened

    def using(self, work: Callable[[sqlite3.Connection], _Answer]) -> _Answer:
        """Does a piece of work on the database; a damaged one is set aside, made anew from the ledgers, asked again."""
        try:
            with translated(self._paths.database):
                return work(self.connection)
        except DataDamaged:
            if self._readonly:
                raise
        with self._ledger.locked(), translated(self._paths.database):
            replaced = self._opened is not None and self._inode != self._inode_now()
            self.close()
            if not replaced:
                set_aside(self._paths, self._clock)
            return work(self.connection)

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def catch_up(self) -> int:
        """Folds new ledger lines; returns how many. Where another device has forgotten something, obeys."""
        lines = self.using(lambda connection: catch_up(connection, self._ledger))
        if self._meta("unwiped"):
            self._wipe()
        return lines

    def rebuild(self) -> None:
        """Makes memories.db anew from the ledgers: the same memories, by the fold. Raises SchemaTooNew."""
        with self._ledger.locked():
            self.using(lambda connection: None)
            self.close()
            remove(self._paths)
            self.catch_up()

    def _inode_now(self) -> int:
        try:
            return os.stat(self._paths.database).st_ino
        except OSError:
            return 0

    # -- changing ------------------------------------------------------------------------------------------------

    def commit(self, changes: Sequence[Change], base_versions: Mapping[str, int] | None = None) -> list[Change]:
        """Appends changes to this device's ledger and folds them, as one step.

        `base_versions` names the version of each memory that the writer has seen; if one has moved on, nothing is
        written and VersionConflict is raised. What a job says of forgotten things is left out.
        """
        self.using(lambda connection: None)  # A database that we must not touch is refused before anything is written.
        with self._ledger.locked():
            self.catch_up()
            written = self.using(lambda connection: self._append(connection, changes, base_versions or {}))
        if self._meta("unwiped"):
            self._wipe()
        return written

    def commit_retrying(self, propose: Callable[[], tuple[Sequence[Change], Mapping[str, int]]]) -> list[Change]:
        """Lets `propose` look at the present state and commit; the loser of a race proposes again."""
        for _ in range(_ATTEMPTS - 1):
            self.catch_up()
            changes, seen = propose()
            try:
                return self.commit(changes, seen) if changes else []
            except VersionConflict:
                continue
        with self._ledger.locked():
            self.catch_up()
            changes, seen = propose()
            return self.commit(changes, seen) if changes else []

    def forget(self, ids: Sequence[str], why: str = "") -> None:
        """Leaves tombstones and removes the words from every file of ours; run twice, it does nothing.

        What the memories have absorbed was the same statement in other words, and goes with them.
        Raises NotFound; LockBusy if the words are out of force but could not be overwritten yet: the next run will.
        """
        with self._ledger.locked():
            self.catch_up()
            gone = [memory for memory in self.with_absorbed(ids) if memory.now.status != "forgotten"]
            if not gone:
                return
            change = Change(0, "", "", "forget", "user", why=why, ids=tuple(sorted(m.id for m in gone)))
            self.using(lambda connection: self._append(connection, [change], {}))
            self._wipe({revision.text for memory in gone for revision in memory.revisions})

    def with_absorbed(self, ids: Sequence[str]) -> list[Memory]:
        """The memories of `ids` and all that were merged into them: what a forget of them removes."""
        found: dict[str, Memory] = {}
        waiting = [self.require(id).id for id in ids]
        while waiting:
            id = waiting.pop()
            memory = None if id in found else self.get(id)
            if memory is None:
                continue
            found[id] = memory
            for change in self.changes(id):
                if any(claim.id == id for claim in change.claims):
                    waiting += [a for a in change.absorbed if (m := self.get(a)) and m.superseded_by == id]
        return list(found.values())

    def _append(
        self, connection: sqlite3.Connection, changes: Sequence[Change], base_versions: Mapping[str, int]
    ) -> list[Change]:
        """The step of a commit. The append is what counts: a fold that fails after it is made up for later.

        Raises only before it has appended, so that it may be asked again.
        """
        connection.execute("BEGIN IMMEDIATE")
        try:
            fold_news(connection, self._ledger)
            self._refuse_stale(connection, base_versions)
            stones = tombstones(connection)
            written = self._ledger.append([self._fit_to_write(connection, change, stones) for change in changes])
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        try:
            fold_news(connection, self._ledger)
            connection.execute("COMMIT")
        except (sqlite3.Error, StorageFailed, LockBusy, DataDamaged):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        return written

    def _refuse_stale(self, connection: sqlite3.Connection, base_versions: Mapping[str, int]) -> None:
        for id, version in base_versions.items():
            memory = _memory(connection, id)
            present = memory.version if memory else 0
            if present != version:
                raise VersionConflict(
                    f"memory {id} is at version {present}, not {version}; read it again",
                    f"记忆 {id} 已是第 {present} 版，而不是 {version}；请重新读取",
                )

    def _fit_to_write(self, connection: sqlite3.Connection, change: Change, stones: Tombstones) -> Change:
        """A change as the ledger takes it. Raises BadInput for one that could not be read back."""
        if change.op == "forget":
            change = _with_stones(change, [m for id in change.ids if (m := _memory(connection, id))])
        elif change.by != "user":
            change = _silenced(connection, change, stones)
        try:
            change_from_record(json.loads(json.dumps(change_to_record(change))))
        except DataDamaged as error:
            raise BadInput(f"this change cannot be kept: {error.en}", f"无法保存这项改动：{error.zh}") from error
        return change

    def _wipe(self, texts: Iterable[str] = ()) -> None:
        """Takes forgotten words out of every file of ours; until that is done, every process tries."""
        with self._ledger.locked():
            stones = self.using(tombstones)
            self._ledger.rewrite(lambda change: without_words(change, stones), tuple(texts))
            self.using(lambda connection: catch_up(connection, self._ledger))
            remove_old_copies(self._paths)
            if not self.using(_overwrite):
                # Someone is reading the old state: he keeps the old file, which goes when he is done.
                self.close()
                remove(self._paths)
            self.using(lambda connection: connection.execute("DELETE FROM meta WHERE name = 'unwiped'"))

    # -- reading -------------------------------------------------------------------------------------------------

    def get(self, id: str) -> Memory | None:
        return self.using(lambda connection: _memory(connection, id))

    def require(self, id: str) -> Memory:
        """The memory of an id or of an unambiguous beginning of one. Raises NotFound or BadInput."""
        # Four characters at least: a beginning that fits by chance should be an error.
        beginning = id if len(id) >= 4 else ""
        rows = self._all(
            "SELECT record FROM memories WHERE id = ? OR (? != '' AND substr(id, 1, length(?)) = ?) LIMIT 2",
            (id, beginning, beginning, beginning),
        )
        if not rows:
            raise NotFound(
                f"there is no memory {id}; `mem recall WORDS` shows ids",
                f"没有记忆 {id}；用 `mem recall 关键词` 查看编号",
            )
        if len(rows) > 1:
            raise BadInput(f"{id} fits several memories; give more of the id", f"{id} 对应多条记忆；请写全编号")
        return memory_from_json(rows[0][0])

    def live(self, project: str | None = None, *, with_global: bool = True) -> list[Memory]:
        """The memories in force: of one project and the profile, or of all projects for None; oldest first."""
        where, values = "status = 'live'", list[str]()
        if project is not None:
            where += (
                " AND (scope = 'global' OR project = ?)" if with_global else " AND scope != 'global' AND project = ?"
            )
            values.append(project)
        return self._memories(f"{where} ORDER BY updated_at, id", values)

    def all(self, project: str | None = None) -> list[Memory]:
        """Every memory, superseded and forgotten ones too, in a stable order."""
        if project is None:
            return self._memories("1 ORDER BY project, id", ())
        return self._memories("project = ? ORDER BY project, id", (project,))

    def from_session(self, project: str, session: str) -> list[Memory]:
        """The memories that have evidence in a session."""
        return self._memories(
            "id IN (SELECT memory FROM evidence WHERE project = ? AND session = ?) ORDER BY id", (project, session)
        )

    def changed_since(self, turn: int) -> Iterator[tuple[int, Memory]]:
        """Memories folded after `turn`, with their turn: what an index has not seen."""
        rows = self._all("SELECT turn, record FROM memories WHERE turn > ? ORDER BY turn, id", (turn,))
        return ((row[0], memory_from_json(row[1])) for row in rows)

    def turn(self) -> int:
        return int(self._meta("turn") or 0)

    def changes(self, id: str | None = None, limit: int = -1) -> list[Change]:
        """Ledger lines, newest first: of one memory or of all."""
        if id is None:
            rows = self._all("SELECT record FROM changes ORDER BY at DESC, device, seq DESC LIMIT ?", (limit,))
        else:
            rows = self._all(
                "SELECT c.record FROM changes c JOIN touches t ON t.device = c.device AND t.seq = c.seq"
                " WHERE t.memory = ? ORDER BY c.at DESC, c.device, c.seq DESC LIMIT ?",
                (id, limit),
            )
        return [change_of(row[0]) for row in rows]

    def counts(self) -> dict[str, int]:
        """Memories by status, and by kind where live: {"live": 3, "kind:decision": 1, …}."""
        found = dict(self._all("SELECT status, count(*) FROM memories GROUP BY status", ()))
        kinds = self._all("SELECT 'kind:' || kind, count(*) FROM memories WHERE status = 'live' GROUP BY kind", ())
        return {**found, **dict(kinds)}

    def digests(self, project: str, limit: int) -> list[dict[str, Any]]:
        """The newest digests of a project: {"session", "at", "text", "topics", "progress"}."""
        rows = self._all(
            "SELECT session, at, record FROM digests WHERE project = ? ORDER BY at DESC, session LIMIT ?",
            (project, limit),
        )
        return [{"session": row[0], "at": row[1], **json.loads(row[2])} for row in rows]

    def problems(self) -> list[tuple[str, int, str]]:
        """Ledger lines that could not be read: (device, byte offset, reason); and copies of ledgers, never folded."""
        lines = [(str(d), int(s), str(r)) for d, s, r in self._all("SELECT device, start, reason FROM problems", ())]
        copies = [(path.stem, 0, "a copy of another ledger, not read") for path in self._ledger.copies()]
        return lines + copies

    # -- plumbing ------------------------------------------------------------------------------------------------

    def _memories(self, where: str, values: Iterable[object]) -> list[Memory]:
        sql, given = f"SELECT record FROM memories WHERE {where}", tuple(values)
        return self.using(lambda c: [memory_from_json(row[0]) for row in c.execute(sql, given)])

    def _all(self, sql: str, values: Iterable[object]) -> list[Any]:
        given = tuple(values)
        return self.using(lambda connection: connection.execute(sql, given).fetchall())

    def _meta(self, name: str) -> str:
        rows = self._all("SELECT value FROM meta WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""


def _memory(connection: sqlite3.Connection, id: str) -> Memory | None:
    row = connection.execute("SELECT record FROM memories WHERE id = ?", (id,)).fetchone()
    return memory_from_json(row[0]) if row else None


def _with_stones(change: Change, memories: Sequence[Memory]) -> Change:
    """A forget with what its tombstones keep, and the statements that may not come back."""
    texts = {revision.text for memory in memories for revision in memory.revisions if revision.text}
    hashes = tuple(sorted({*change.hashes, *map(statement_hash, texts)}))
    return dataclasses.replace(change, hashes=hashes, records=tuple(stone_record(memory) for memory in memories))


def _silenced(connection: sqlite3.Connection, change: Change, stones: Tombstones) -> Change:
    """A job's line without the forgotten: it would not be heard, and must not write the words again."""
    said = heard(change, stones.hashes)
    claims = []
    for claim in said.claims:
        memory = _memory(connection, claim.id) if claim.id in stones.last else None
        claim = wordless(claim) if memory and memory.now.status == "forgotten" else claim
        if claim.text or claim.supersedes:
            claims.append(claim)
    if tuple(claims) == change.claims and said.records == change.records:
        return change
    return dataclasses.replace(said, claims=tuple(claims), digest=None)


def _overwrite(connection: sqlite3.Connection) -> bool:
    """Leaves no byte of deleted rows in the database and its log. False if a reader or writer is in the way."""
    before = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute(f"PRAGMA busy_timeout = {int(_WIPE_SECONDS * 1000)}")
    try:
        connection.execute("VACUUM")
        return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            return False
        raise
    finally:
        connection.execute(f"PRAGMA busy_timeout = {before}")
