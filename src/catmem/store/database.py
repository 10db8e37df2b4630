"""memories.db as a connection: opened, migrated, its errors translated; a damaged one is set aside and begun anew."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock

from catmem.domain.clock import Clock, now
from catmem.domain.errors import DataDamaged, LockBusy, SchemaTooNew, StorageFailed
from catmem.settings.paths import FILE_MODE, Paths
from catmem.store.schema import MIGRATIONS, migrate, refuse_newer

# A fold of many lines holds the write lock for seconds; a reader never waits, thanks to the write-ahead log.
BUSY_SECONDS = 30.0
_SUFFIXES = ("", "-wal", "-shm")
# Damage inside a page may show as a table or a text that is not there.
_SIGNS_OF_DAMAGE = ("malformed", "not a database", "no such table", "no such column", "Could not decode")


def open_database(paths: Paths, clock: Clock) -> sqlite3.Connection:
    """The database, created if missing. One that SQLite cannot read goes to quarantine: it is only an index."""
    _create(paths)
    try:
        return _connect(paths.database)
    except DataDamaged:
        set_aside(paths, clock)
        _create(paths)
        return _connect(paths.database)


def open_readonly(path: Path, busy_seconds: float) -> sqlite3.Connection:
    """For hooks: never creates, migrates or waits long. Raises a CatmemError if it cannot be read as it is."""
    with translated(path):
        connection = sqlite3.connect(_read_only(path), uri=True, timeout=busy_seconds, isolation_level=None)
        try:
            connection.execute("PRAGMA query_only = ON")
            refuse_newer(connection)
            connection.execute("SELECT count(*) FROM meta").fetchone()
        except (sqlite3.Error, SchemaTooNew):
            connection.close()
            raise
        return connection


def quick_check(path: Path) -> str:
    """What SQLite finds wrong with the database, or an empty string; a missing one is not wrong."""
    if not path.exists():
        return ""
    try:
        with contextlib.closing(sqlite3.connect(_read_only(path), uri=True, timeout=BUSY_SECONDS)) as connection:
            found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    except sqlite3.Error as error:
        return str(error)
    return "" if found == "ok" else found.splitlines()[0]


def _read_only(path: Path) -> str:
    return f"{path.absolute().as_uri()}?mode=ro"


def set_aside(paths: Paths, clock: Clock) -> Path:
    """Moves a damaged database, with its log, into quarantine."""
    paths.make(paths.quarantine)
    target = paths.quarantine / f"memories-{now(clock).replace(':', '')}.db"
    with translated(paths.database):
        for suffix in _SUFFIXES:
            with contextlib.suppress(FileNotFoundError):
                beside(paths.database, suffix).rename(beside(target, suffix))
    return target


def remove(paths: Paths) -> None:
    """Removes the database; it is made anew from the ledgers."""
    with translated(paths.database):
        for suffix in _SUFFIXES:
            beside(paths.database, suffix).unlink(missing_ok=True)


def remove_old_copies(paths: Paths) -> None:
    """Removes damaged databases and backups: derived as they are, they may hold what was forgotten since."""
    with translated(paths.database):
        for copy in (*paths.quarantine.glob("memories-*.db*"), *paths.root.glob("memories.db.before-*")):
            copy.unlink(missing_ok=True)


def beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


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
        if any(sign in text for sign in _SIGNS_OF_DAMAGE):
            raise _damaged(path) from error
        raise StorageFailed(f"cannot use {path}: {text}", f"无法使用 {path}：{text}") from error
    except (sqlite3.ProgrammingError, sqlite3.InterfaceError, sqlite3.DataError):
        # A fault of ours; to call the file damaged would set a healthy one aside.
        raise
    except sqlite3.DatabaseError as error:
        raise _damaged(path) from error
    except OSError as error:
        raise StorageFailed(f"cannot use {path}: {error.strerror}", f"无法使用 {path}：{error.strerror}") from error


def _damaged(path: Path) -> DataDamaged:
    return DataDamaged(
        f"{path} is damaged; `mem doctor --repair` rebuilds it from the ledger",
        f"{path} 已损坏；`mem doctor --repair` 可由账本重建",
    )


def _create(paths: Paths) -> None:
    """Makes an empty, private database if there is none. The log of one that was deleted would only confuse it."""
    if paths.database.exists():
        return
    paths.make(paths.locks)
    with translated(paths.database), FileLock(paths.locks / "database.lock", mode=FILE_MODE):
        if not paths.database.exists():
            remove(paths)
            os.close(os.open(paths.database, os.O_CREAT | os.O_RDWR, FILE_MODE))


def _connect(path: Path) -> sqlite3.Connection:
    with translated(path):
        connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
        try:
            # Before anything that could change the file of a later catmem.
            version = refuse_newer(connection)
            _refuse_torn(connection, path)
            connection.execute("PRAGMA journal_mode = WAL")
            # The ledger is the truth and is synced; the index may lose its last moments to a power cut.
            connection.execute("PRAGMA synchronous = NORMAL")
            # What was forgotten is overwritten, not only unlinked.
            connection.execute("PRAGMA secure_delete = ON")
            if 0 < version < len(MIGRATIONS):
                _back_up(connection, beside(path, f".before-{len(MIGRATIONS)}"))
            migrate(connection)
        except (sqlite3.Error, SchemaTooNew):
            connection.close()
            raise
        return connection


def _refuse_torn(connection: sqlite3.Connection, path: Path) -> None:
    """SQLite takes the missing pages of a file that was cut off for empty ones, unless it looks closely."""
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    if pages * size <= path.stat().st_size:
        return
    # The rest may be in the log, or another process may be moving it: only a check within one moment can tell.
    found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    if found != "ok":
        raise sqlite3.DatabaseError(found)


def _back_up(connection: sqlite3.Connection, target: Path) -> None:
    target.unlink(missing_ok=True)
    os.close(os.open(target, os.O_CREAT | os.O_RDWR, FILE_MODE))
    connection.execute("VACUUM INTO ?", (str(target),))
