"""The memories of a data directory, and the one way to change them: an append to the ledger, folded at once."""

from __future__ import annotations

import dataclasses
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from catmem.domain.change import Change, Job
from catmem.domain.change_record import change_from_record, change_to_record
from catmem.domain.errors import BadInput, DataDamaged, LockBusy, StorageFailed, VersionConflict
from catmem.domain.forgetting import Tombstones, heard, stone_record, without_words, wordless
from catmem.domain.memory import Memory, statement_hash
from catmem.domain.session import SessionRef
from catmem.store.database import remove, remove_old_copies
from catmem.store.folding import catch_up, change_of, fold_news, tombstones
from catmem.store.reading import MemoryReading, memory_of

# How often a writer that lost the race proposes again; the last time it holds the lock and cannot lose.
_ATTEMPTS = 5
# A forget waits so long for readers of the old state; then it makes the database anew and leaves them the old file.
_WIPE_SECONDS = 2.0


class MemoryStore(MemoryReading):
    """memories.db over the ledgers. `catch_up` folds what the ledgers have gained; readings show what is folded."""

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

    def forget_sentences(self, session: SessionRef, sentences: Collection[str]) -> None:
        """Leaves a tombstone of sentences of a session that no memory was made of: what digests tell of them goes.

        Raises LockBusy as `forget` does.
        """
        job = Job(session.project, session.key, 0, 0, "purge")
        hashes = tuple(sorted(map(statement_hash, sentences)))
        change = Change(0, "", "", "forget", "user", why="forgotten by the user", job=job, hashes=hashes)
        with self._ledger.locked():
            self.catch_up()
            self.using(lambda connection: self._append(connection, [change], {}))
            self._wipe(sentences)

    def rescue_ledgers(self) -> int:
        """Writes ledgers that something wrote over anew, from what the database knows of them. Returns how many."""
        with self._ledger.locked():
            ruins = self._ledger.unreadable()
            for path in ruins:
                rows = self._all("SELECT record FROM changes WHERE device = ? ORDER BY seq", (path.stem,))
                self._ledger.put_back(path, [change_of(row[0]) for row in rows])
            self.catch_up()
        return len(ruins)

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
            memory = memory_of(connection, id)
            present = memory.version if memory else 0
            if present != version:
                raise VersionConflict(
                    f"memory {id} is at version {present}, not {version}; read it again",
                    f"记忆 {id} 已是第 {present} 版，而不是 {version}；请重新读取",
                )

    def _fit_to_write(self, connection: sqlite3.Connection, change: Change, stones: Tombstones) -> Change:
        """A change as the ledger takes it. Raises BadInput for one that could not be read back."""
        if change.op == "forget":
            change = _with_stones(change, [m for id in change.ids if (m := memory_of(connection, id))])
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
        # Forgotten here, or where an import came from.
        memory = memory_of(connection, claim.id)
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
