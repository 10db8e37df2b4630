"""The queue of sessions to distil: found by comparing sessions with progress, so that a lost queue loses nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from catmem.domain.clock import shifted
from catmem.domain.session import SessionHeader, SessionRef
from catmem.settings.paths import Paths
from catmem.store.memories import MemoryStore

# After so many failures in a row a session is parked: shown in `mem status`, tried again on `mem work --retry`.
MAX_ATTEMPTS = 6
# The wait doubles from here; six attempts span about five hours.
FIRST_WAIT_MINUTES = 5


@dataclass(frozen=True, slots=True)
class PendingSession:
    """A session with messages after `distilled_to` that no distilling has seen."""

    header: SessionHeader
    distilled_to: int
    attempts: int = 0
    not_before: str = ""
    error: str = ""

    @property
    def ref(self) -> SessionRef:
        return self.header.ref

    @property
    def parked(self) -> bool:
        return self.attempts >= MAX_ATTEMPTS


class JobQueue:
    def __init__(self, paths: Paths, store: MemoryStore) -> None:
        self._store = store

    def pending(self, headers: Iterable[SessionHeader]) -> list[PendingSession]:
        """The sessions that are not distilled to their end, oldest first, parked ones included."""
        done = self._ask("SELECT project, session, max(last_id) FROM distilled GROUP BY project, session")
        distilled = {(row[0], row[1]): row[2] for row in done}
        failed = {(row[0], row[1]): row[2:] for row in self._ask("SELECT * FROM jobs")}
        found = []
        for header in headers:
            place = (header.ref.project, header.ref.key)
            if header.last_id > distilled.get(place, 0):
                found.append(PendingSession(header, distilled.get(place, 0), *failed.get(place, ())))
        return sorted(found, key=lambda p: (p.header.updated_at, p.ref))

    def distilled_to(self, ref: SessionRef) -> int:
        """The id of the last message of a session that distilling has seen."""
        rows = self._ask("SELECT max(last_id) FROM distilled WHERE project = ? AND session = ?", (ref.project, ref.key))
        return int(rows[0][0] or 0)

    def failed(self, job: PendingSession, error: str, at: str) -> None:
        """Counts a failure and puts the next attempt off, twice as long each time."""
        not_before = shifted(at, minutes=FIRST_WAIT_MINUTES * 2**job.attempts)
        row = (job.ref.project, job.ref.key, job.attempts + 1, not_before, error[:500])
        self._ask("INSERT OR REPLACE INTO jobs VALUES(?, ?, ?, ?, ?)", row)

    def retry_all(self) -> None:
        """Lets every failed or parked session be tried again at once."""
        self._ask("DELETE FROM jobs")

    def _ask(self, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
        return self._store.using(lambda connection: connection.execute(sql, values).fetchall())
