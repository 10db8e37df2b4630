"""memories.db held open: folded when opened, opened again when replaced, made anew when damaged."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from catmem.domain.clock import Clock, system_clock
from catmem.domain.errors import DataDamaged
from catmem.ledger.ledger import Ledger
from catmem.settings.paths import Paths
from catmem.store.database import open_database, open_readonly, set_aside, translated
from catmem.store.folding import catch_up

# A reader in a hook would rather do without than make its host wait.
READONLY_BUSY_SECONDS = 0.2

_Answer = TypeVar("_Answer")


class HeldDatabase:
    """The database may be deleted or damaged at any time: it is made anew when that is met."""

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

    def _inode_now(self) -> int:
        try:
            return os.stat(self._paths.database).st_ino
        except OSError:
            return 0
