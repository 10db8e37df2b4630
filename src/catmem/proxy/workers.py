"""The workers that a proxy starts: one at a time, for all that has gathered."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from catmem.domain.session import SessionRef
from catmem.inject.worker import spawn_worker
from catmem.settings.places import Places

# A worker is a process: what is to be distilled waits this long for more of it, unless somebody waits for the result.
_GATHERING_SECONDS = 1.0


class Workers:
    """For one thread at a time."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._running: set[int] = set()
        self._in_use: set[SessionRef] = set()
        self._due = 0.0

    @property
    def wanted(self) -> bool:
        return bool(self._due)

    def want(self, in_use: SessionRef | None = None) -> None:
        """One is to distil what has ended, and the session `in_use` although it goes on."""
        self._in_use |= {in_use} if in_use is not None else set()
        self._due = self._due or time.monotonic() + _GATHERING_SECONDS

    def start_if_due(self, *, at_once: bool = False) -> None:
        """Starts the one that is wanted, if there is one."""
        if not self._due or not (at_once or (time.monotonic() >= self._due and not self._are_busy())):
            return
        in_use, self._in_use, self._due = self._in_use, set(), 0.0
        self.start((ref.project, ref.key) for ref in in_use)

    def start(self, in_use: Iterable[tuple[str, str]] = ()) -> None:
        self._running.add(spawn_worker(self._places, in_use))

    def _are_busy(self) -> bool:
        """Whether any is at it; one that has ended is taken leave of, so that it does not stay as a zombie."""
        self._running = {pid for pid in self._running if pid and _is_running(pid)}
        return bool(self._running)


def _is_running(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return False
