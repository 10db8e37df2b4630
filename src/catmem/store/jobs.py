"""The queue of sessions to distil: found by comparing sessions with progress, so that a lost queue loses nothing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from catmem.domain.clock import shifted
from catmem.domain.session import SessionHeader, SessionRef
from catmem.settings.paths import Paths
from catmem.store.database import translated
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
        self._paths = paths
        self._store = store

    def pending(self, headers: Iterable[SessionHeader]) -> list[PendingSession]:
        """The sessions that are not distilled to their end, oldest first, parked ones included."""
        with translated(self._paths.database):
            connection = self._store.connection
            done = {(r[0], r[1]): r[2] for r in connection.execute("SELECT project, session, last_id FROM distilled")}
            failed = {(r[0], r[1]): r[2:] for r in connection.execute("SELECT * FROM jobs")}
        found = []
        for header in headers:
            place = (header.ref.project, header.ref.key)
            if header.last_id > done.get(place, 0):
                found.append(PendingSession(header, done.get(place, 0), *failed.get(place, ())))
        return sorted(found, key=lambda p: (p.header.updated_at, p.ref))

    def distilled_to(self, ref: SessionRef) -> int:
        """The id of the last message of a session that distilling has seen."""
        with translated(self._paths.database):
            row = self._store.connection.execute(
                "SELECT last_id FROM distilled WHERE project = ? AND session = ?", (ref.project, ref.key)
            ).fetchone()
        return int(row[0]) if row else 0

    def failed(self, job: PendingSession, error: str, at: str) -> None:
        """Counts a failure and puts the next attempt off, twice as long each time."""
        not_before = shifted(at, minutes=FIRST_WAIT_MINUTES * 2**job.attempts)
        with translated(self._paths.database):
            self._store.connection.execute(
                "INSERT OR REPLACE INTO jobs VALUES(?, ?, ?, ?, ?)",
                (job.ref.project, job.ref.key, job.attempts + 1, not_before, error[:500]),
            )

    def retry_all(self) -> None:
        """Lets every failed or parked session be tried again at once."""
        with translated(self._paths.database):
            self._store.connection.execute("DELETE FROM jobs")
