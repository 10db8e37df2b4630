"""memories.db as a connection: opened, migrated, its errors translated; a damaged one is set aside and begun anew."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from catmem.domain.clock import Clock, now
from catmem.domain.errors import DataDamaged, LockBusy, SchemaTooNew, StorageFailed
from catmem.settings.paths import FILE_MODE, Paths
from catmem.store.schema import migrate

# A fold of many lines holds the write lock for seconds; a reader never waits, thanks to the write-ahead log.
BUSY_SECONDS = 30.0


def open_database(paths: Paths, clock: Clock) -> sqlite3.Connection:
    """The database, created if missing. One that SQLite cannot read goes to quarantine: it is only an index."""
    paths.make(paths.root)
    try:
        return _connect(paths.database)
    except DataDamaged:
        set_aside(paths, clock)
        return _connect(paths.database)


def open_readonly(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """For hooks: never creates, migrates or waits long. Raises a CatmemError if it cannot be read as it is."""
    with translated(path):
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=busy_seconds, isolation_level=None)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("SELECT count(*) FROM meta").fetchone()
        return connection


def set_aside(paths: Paths, clock: Clock) -> Path:
    """Moves a damaged database, with its log, into quarantine."""
    paths.make(paths.quarantine)
    mark = now(clock).replace(":", "")
    for suffix in ("", "-wal", "-shm"):
        source = paths.database.with_name(paths.database.name + suffix)
        with contextlib.suppress(FileNotFoundError):
            source.rename(paths.quarantine / f"memories-{mark}.db{suffix}")
    return paths.quarantine / f"memories-{mark}.db"


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turns SQLite's and the system's errors into ours."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "locked" in text or "busy" in text:
            raise LockBusy(
                "memories.db is locked by another program; try again when it is done",
                "memories.db 被另一个程序锁住；请等它结束后再试",
            ) from error
        if "malformed" in text or "not a database" in text:
            raise _damaged(path) from error
        raise StorageFailed(f"cannot use {path}: {text}", f"无法使用 {path}：{text}") from error
    except sqlite3.DatabaseError as error:
        raise _damaged(path) from error
    except OSError as error:
        raise StorageFailed(f"cannot use {path}: {error.strerror}", f"无法使用 {path}：{error.strerror}") from error


def _damaged(path: Path) -> DataDamaged:
    return DataDamaged(
        f"{path} is damaged; `mem doctor --repair` rebuilds it from the ledger",
        f"{path} 已损坏；`mem doctor --repair` 可由账本重建",
    )


def _connect(path: Path) -> sqlite3.Connection:
    with translated(path):
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, FILE_MODE))
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            # The ledger is the truth and is synced; the index may lose its last moments to a power cut.
            connection.execute("PRAGMA synchronous = NORMAL")
            # What was forgotten is overwritten, not only unlinked.
            connection.execute("PRAGMA secure_delete = ON")
            migrate(connection)
        except (sqlite3.Error, SchemaTooNew):
            connection.close()
            raise
        return connection
