from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from catmem.clients.foreign_db import foreign_database
from catmem.domain.errors import StorageFailed


def made(path: Path, *, log: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    if log:
        connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("CREATE TABLE talk (id INTEGER, text)")
    connection.execute("INSERT INTO talk VALUES (1, '茶壶')")
    connection.commit()
    return connection


def read(path: Path) -> list[object]:
    with foreign_database(path) as database:
        assert database.columns("talk") == {"id", "text"}
        assert database.columns("nothing") == set()
        return [row[0] for row in database.rows("SELECT text FROM talk ORDER BY id")]


@pytest.mark.parametrize("log", [False, True])
def test_nothing_appears_beside_a_database_that_nobody_uses(tmp_path: Path, log: bool) -> None:
    path = tmp_path / "it's 100%.db"
    made(path, log=log).close()
    before = path.read_bytes()
    assert read(path) == ["茶壶"]
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


@pytest.mark.parametrize("log", [False, True])
def test_what_a_running_program_wrote_is_read(tmp_path: Path, log: bool) -> None:
    path = tmp_path / "a.db"
    writer = made(path, log=log)
    writer.execute("INSERT INTO talk VALUES (2, 'two')")
    writer.commit()
    beside = set(tmp_path.iterdir())
    assert read(path) == ["茶壶", "two"]
    assert set(tmp_path.iterdir()) == beside
    writer.execute("INSERT INTO talk VALUES (3, 'three')")
    writer.commit()
    writer.close()


def test_the_log_of_a_crashed_program_is_read_and_left_alone(tmp_path: Path) -> None:
    writer = made(tmp_path / "a.db", log=True)
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for name in ("a.db", "a.db-wal"):
        shutil.copyfile(tmp_path / name, crashed / name)
    writer.close()
    before = {path.name: path.read_bytes() for path in crashed.iterdir()}
    assert read(crashed / "a.db") == ["茶壶"]
    assert {path.name: path.read_bytes() for path in crashed.iterdir()} == before


def test_a_damaged_or_missing_database_is_our_error(tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_bytes(b"SQLite format 3\x00" + b"garbage" * 200)
    for name in ("bad.db", "none.db"):
        with pytest.raises(StorageFailed), foreign_database(tmp_path / name) as database:
            list(database.rows("SELECT 1 FROM talk"))
