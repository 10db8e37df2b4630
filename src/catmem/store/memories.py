"""The memories of a data directory: what is live, what it was, who said so; and the one way to change them."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from catmem.domain.change import Change, change_from_record
from catmem.domain.clock import Clock, system_clock
from catmem.domain.errors import BadInput, NotFound, VersionConflict
from catmem.domain.memory import Memory, statement_hash
from catmem.ledger.ledger import Ledger
from catmem.settings.paths import Paths
from catmem.store.database import open_database, open_readonly, translated
from catmem.store.folding import catch_up
from catmem.store.records import memory_from_json

# How often a writer that lost the race is let try again on the new state.
_ATTEMPTS = 5
# A reader in a hook would rather do without than make its host wait.
READONLY_BUSY_SECONDS = 0.2


class MemoryStore:
    """memories.db over the ledgers. `catch_up` folds what the ledgers have gained; readings show what is folded."""

    def __init__(self, paths: Paths, ledger: Ledger, clock: Clock = system_clock, *, readonly: bool = False) -> None:
        self._paths = paths
        self._ledger = ledger
        self._clock = clock
        self._readonly = readonly
        self._opened: sqlite3.Connection | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        if self._opened is None and self._readonly:
            self._opened = open_readonly(self._paths.database, READONLY_BUSY_SECONDS)
        elif self._opened is None:
            self._opened = open_database(self._paths, self._clock)
        return self._opened

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def catch_up(self) -> int:
        """Folds new ledger lines; returns how many."""
        with translated(self._paths.database):
            return catch_up(self.connection, self._ledger)

    def rebuild(self) -> None:
        """Makes memories.db anew from the ledgers: the same memories, by the fold."""
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._paths.database.with_name(self._paths.database.name + suffix).unlink(missing_ok=True)
        self.catch_up()

    # -- changing ------------------------------------------------------------------------------------------------

    def commit(self, changes: Sequence[Change], base_versions: Mapping[str, int] | None = None) -> list[Change]:
        """Appends changes to this device's ledger and folds them, as one step.

        `base_versions` names the version of each memory that the writer has seen; if one has moved on, nothing is
        written and VersionConflict is raised.
        """
        self._ledger.device  # noqa: B018  made before the lock is taken
        with self._ledger.locked():
            self.catch_up()
            for id, version in (base_versions or {}).items():
                memory = self.get(id)
                present = memory.version if memory else 0
                if present != version:
                    raise VersionConflict(
                        f"memory {id} is at version {present}, not {version}; read it again",
                        f"记忆 {id} 已是第 {present} 版，而不是 {version}；请重新读取",
                    )
            written = self._ledger.append(list(changes))
        self.catch_up()
        return written

    def commit_retrying(self, propose: Callable[[], tuple[Sequence[Change], Mapping[str, int]]]) -> list[Change]:
        """Lets `propose` look at the present state and commit; the loser of a race proposes again."""
        for attempt in range(_ATTEMPTS):
            self.catch_up()
            changes, seen = propose()
            try:
                return self.commit(changes, seen) if changes else []
            except VersionConflict:
                if attempt == _ATTEMPTS - 1:
                    raise
        return []

    def forget(self, ids: Sequence[str], why: str = "") -> None:
        """Leaves tombstones and removes the words from the database and from this device's ledger."""
        with self._ledger.locked():
            self.catch_up()
            texts = {revision.text for id in ids for revision in self.require(id).revisions if revision.text}
            hashes = tuple(sorted({*map(statement_hash, texts)}))
            change = Change(0, "", "", "forget", "user", why=why, ids=tuple(ids), hashes=hashes)
            self._ledger.append([change])
            gone = frozenset(ids)
            self._ledger.rewrite(lambda change: without_words(change, gone, frozenset(hashes)))
        self.catch_up()
        with translated(self._paths.database):
            self.connection.execute("VACUUM")
            self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # -- reading -------------------------------------------------------------------------------------------------

    def get(self, id: str) -> Memory | None:
        row = self._one("SELECT record FROM memories WHERE id = ?", (id,))
        return memory_from_json(row[0]) if row else None

    def require(self, id: str) -> Memory:
        """The memory of an id or of an unambiguous beginning of one. Raises NotFound or BadInput."""
        rows = self._all("SELECT record FROM memories WHERE id = ? OR id LIKE ? LIMIT 2", (id, _prefix(id)))
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
        row = self._one("SELECT value FROM meta WHERE name = 'turn'", ())
        return int(row[0]) if row else 0

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
        return [change_from_record(json.loads(row[0])) for row in rows]

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
        """Ledger lines that could not be read: (device, byte offset, reason)."""
        return [(str(d), int(s), str(r)) for d, s, r in self._all("SELECT device, start, reason FROM problems", ())]

    # -- plumbing ------------------------------------------------------------------------------------------------

    def _memories(self, where: str, values: Iterable[object]) -> list[Memory]:
        return [memory_from_json(row[0]) for row in self._all(f"SELECT record FROM memories WHERE {where}", values)]

    def _all(self, sql: str, values: Iterable[object]) -> list[Any]:
        with translated(self._paths.database):
            return self.connection.execute(sql, tuple(values)).fetchall()

    def _one(self, sql: str, values: Iterable[object]) -> Any:
        with translated(self._paths.database):
            return self.connection.execute(sql, tuple(values)).fetchone()


def without_words(change: Change, gone: frozenset[str], hashes: frozenset[str]) -> Change:
    """A ledger line without what was said about forgotten memories; what it did to others stays."""
    claims = tuple(c for c in change.claims if c.id not in gone and statement_hash(c.text) not in hashes)
    records = tuple(r for r in change.records if r["id"] not in gone and statement_hash(str(r["text"])) not in hashes)
    if claims == change.claims and records == change.records:
        return change
    # A digest may tell the same in other words; it can be made again from the session.
    return dataclasses.replace(change, claims=claims, records=records, digest=None)


def _prefix(id: str) -> str:
    # Ids are hexadecimal; anything else could be a wildcard of LIKE.
    return id + "%" if len(id) >= 4 and id.isalnum() else id
