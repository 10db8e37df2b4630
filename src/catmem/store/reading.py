"""Reading memories: what is live, what it was, who said so, how far sessions are distilled."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any

from catmem.domain.change import Change
from catmem.domain.errors import BadInput, NotFound
from catmem.domain.memory import Claim, Memory, statement_hash
from catmem.settings import registry
from catmem.store.folding import change_of, tombstones
from catmem.store.held import HeldDatabase
from catmem.store.records import memory_from_json


class MemoryReading(HeldDatabase):
    """What can be asked of memories.db, as it is folded."""

    def get(self, id: str) -> Memory | None:
        return self.using(lambda connection: memory_of(connection, id))

    def is_forgotten(self, claim: Claim) -> bool:
        """True if the user has had forgotten what a claim says, under whatever id: a job may not say it again."""
        memory = self.get(claim.id)
        gone = memory is not None and memory.now.status == "forgotten"
        return gone or statement_hash(claim.text) in self.using(tombstones).hashes

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
            within, values = self._within(project)
            where += f" AND (scope = 'global' OR {within})" if with_global else f" AND scope != 'global' AND {within}"
        return self._memories(f"{where} ORDER BY updated_at, id", values)

    def all(self, project: str | None = None) -> list[Memory]:
        """Every memory, superseded and forgotten ones too, in a stable order."""
        if project is None:
            return self._memories("1 ORDER BY project, id", ())
        within, values = self._within(project)
        return self._memories(f"{within} ORDER BY project, id", values)

    def projects(self) -> list[str]:
        """Every project that ever had a memory, by what it is part of now."""
        home = registry.read(self._paths).home
        return sorted({home(row[0]) for row in self._all("SELECT DISTINCT project FROM memories", ()) if row[0]})

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

    def history(self, id: str) -> list[Change]:
        """All lines that touch a memory, in the order of their writing."""
        return self.changes(id)[::-1]

    def histories(self, ids: Iterable[str]) -> Iterator[tuple[str, list[Change]]]:
        """`history` of several memories. Each line is read once: that of an import may touch thousands."""
        read: dict[tuple[str, int], Change] = {}
        for id in ids:
            rows = self._all(
                "SELECT c.device, c.seq FROM changes c JOIN touches t ON t.device = c.device AND t.seq = c.seq"
                " WHERE t.memory = ? ORDER BY c.at, c.device DESC, c.seq",
                (id,),
            )
            for place in {tuple(row) for row in rows} - read.keys():
                (row,) = self._all("SELECT record FROM changes WHERE device = ? AND seq = ?", place)
                read[place] = change_of(row[0])
            yield id, [read[tuple(row)] for row in rows]

    def written_since(self, at: str) -> list[Change]:
        """The ledger lines that were written at a moment or later, newest first."""
        rows = self._all("SELECT record FROM changes WHERE at >= ? ORDER BY at DESC, device, seq DESC", (at,))
        return [change_of(row[0]) for row in rows]

    def forgotten_statements(self) -> Set[str]:
        """The hashes of all that was ever forgotten, as `fold` takes them."""
        return self.using(tombstones).hashes

    def counts(self) -> dict[str, int]:
        """Memories by status, and by kind where live: {"live": 3, "kind:decision": 1, …}."""
        found = dict(self._all("SELECT status, count(*) FROM memories GROUP BY status", ()))
        kinds = self._all("SELECT 'kind:' || kind, count(*) FROM memories WHERE status = 'live' GROUP BY kind", ())
        return {**found, **dict(kinds)}

    def digests(self, project: str, limit: int) -> list[dict[str, Any]]:
        """The newest digests of a project: {"session", "at", "text", "topics", "progress"}."""
        within, values = self._within(project)
        rows = self._all(
            f"SELECT session, at, record FROM digests WHERE {within} ORDER BY at DESC, session LIMIT ?",
            (*values, limit),
        )
        return [{"session": row[0], "at": row[1], **json.loads(row[2])} for row in rows]

    def digests_after(self, project: str, cursor: Mapping[str, int], limit: int) -> list[dict[str, Any]]:
        """The digests of a project beyond a cursor (see `dream_cursor`), the oldest first: as `digests` has them, and
        their line as "device" and "seq"."""
        within, values = self._within(project)
        beyond = " AND ".join("NOT (device = ? AND seq <= ?)" for _ in cursor) or "1"
        known = [value for item in cursor.items() for value in item]
        rows = self._all(
            f"SELECT session, at, device, seq, record FROM digests WHERE {within} AND {beyond}"
            " ORDER BY at, device, seq LIMIT ?",
            (*values, *known, limit),
        )
        return [{**json.loads(r[4]), "session": r[0], "at": r[1], "device": r[2], "seq": r[3]} for r in rows]

    def dream_cursor(self, project: str) -> dict[str, int]:
        """How far dreams have read the digests of a project: the number of the last line of each device."""
        read: dict[str, int] = {}
        for (record,) in self._all("SELECT record FROM changes WHERE op = 'dream'", ()):
            change = change_of(record)
            if change.job is not None and change.job.project == project:
                for device, seq in (change.cursor or {}).items():
                    read[device] = max(seq, read.get(device, 0))
        return read

    def problems(self) -> list[tuple[str, int, str]]:
        """What of the ledgers could not be read: (device, byte offset, reason). Copies of ledgers are never folded; of
        a file that was written over, what the database knows stays."""
        lines = [(str(d), int(s), str(r)) for d, s, r in self._all("SELECT device, start, reason FROM problems", ())]
        copies = [(path.stem, 0, "a copy of another ledger, not read") for path in self._ledger.copies()]
        ruins = [(path.stem, 0, "something wrote over it") for path in self._ledger.unreadable()]
        return lines + copies + ruins

    def _within(self, project: str) -> tuple[str, list[str]]:
        """The condition that a row is of a project or of one merged into it, and its values."""
        members = registry.read(self._paths).members(project)
        return f"project IN ({', '.join('?' * len(members))})", list(members)

    def _memories(self, where: str, values: Iterable[object]) -> list[Memory]:
        sql, given = f"SELECT record FROM memories WHERE {where}", tuple(values)
        return self.using(lambda c: [memory_from_json(row[0]) for row in c.execute(sql, given)])

    def _all(self, sql: str, values: Iterable[object]) -> list[Any]:
        given = tuple(values)
        return self.using(lambda connection: connection.execute(sql, given).fetchall())

    def _meta(self, name: str) -> str:
        rows = self._all("SELECT value FROM meta WHERE name = ?", (name,))
        return str(rows[0][0]) if rows else ""


def memory_of(connection: sqlite3.Connection, id: str) -> Memory | None:
    row = connection.execute("SELECT record FROM memories WHERE id = ?", (id,)).fetchone()
    return memory_from_json(row[0]) if row else None
