"""Another program's SQLite database, read and never touched: also while that program runs."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from catmem.domain.errors import StorageFailed

SIGNATURE = b"SQLite format 3\x00"
# How long to wait for a program that is writing just now.
_WAIT_SECONDS = 5.0
# Bytes 18 and 19 of the file: 2 where it keeps a write-ahead log.
_WAL_MODE = b"\x02\x02"


class ForeignDatabase:
    """An open database. Every method raises StorageFailed where it is damaged or locked."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._connection = connection
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")

    def columns(self, table: str) -> set[str]:
        """The names of a table's columns; empty if there is no such table."""
        return {str(row[0]) for row in self.rows("SELECT name FROM pragma_table_info(?)", (table,))}

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query, one at a time."""
        try:
            yield from self._connection.execute(query, values)
        except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter where the message quotes damaged bytes
            raise _failure(self._path, error) from error


@contextmanager
def foreign_database(path: Path) -> Iterator[ForeignDatabase]:
    """Opens a database to read it. Raises StorageFailed."""
    with ExitStack() as stack:
        try:
            uri = _uri(path, stack)
            connection = sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS)
        except (OSError, sqlite3.Error) as error:
            raise _failure(path, error) from error
        stack.callback(connection.close)
        yield ForeignDatabase(path, connection)


def _uri(path: Path, stack: ExitStack) -> str:
    """How to open it so that no file appears beside it.

    A reader of a database with a write-ahead log makes the log's files where they are missing, and cannot take them
    away again. Without a log nobody has the database open: it is read as it lies. With a log but no index of it the
    program has crashed: a copy is read.
    """
    with path.open("rb") as file:
        has_log = file.read(20)[18:] == _WAL_MODE
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    if not has_log or (log.exists() and index.exists()):
        return f"file:{quote(str(path.absolute()))}?mode=ro"
    if not log.exists():
        return f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="catmem-")))
    for one in (path, log):
        shutil.copyfile(one, folder / one.name)
    return f"file:{quote(str(folder / path.name))}?mode=rw"


def _failure(path: Path, error: Exception) -> StorageFailed:
    return StorageFailed(
        f"{path}: the database cannot be read ({error}). Close the program that uses it and try again.",
        f"{path}：无法读取该数据库（{error}）。请关闭正在使用它的程序后重试。",
    )
