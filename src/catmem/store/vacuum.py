"""Giving the space back that memories.db does not use any more."""

from __future__ import annotations

import sqlite3

from catmem.settings.paths import Paths
from catmem.store.database import beside
from catmem.store.memories import MemoryStore

# Copying a database for less than this is not worth the writing.
LEAST_BYTES = 64 << 10


def unused_bytes(store: MemoryStore) -> int:
    """How many bytes a vacuum would give back: free pages, and the log of writes that are in the file already."""

    def ask(connection: sqlite3.Connection) -> int:
        free, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_size"))
        return int(free) * int(size)

    return store.using(ask)


def vacuum(store: MemoryStore, paths: Paths) -> int:
    """Makes memories.db as small as it can be. Returns how many bytes that gave back.

    Raises LockBusy if another process is writing, StorageFailed if there is no room for the copy that it takes.
    """

    def work(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    before = _size(paths)
    store.using(work)
    return max(0, before - _size(paths))


def _size(paths: Paths) -> int:
    files = (beside(paths.database, suffix) for suffix in ("", "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())
