"""Databases that a released catmem made, row by row, are opened by this one: a released step is never edited afterwards."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from catmem.ledger.ledger import Ledger
from catmem.store import schema
from catmem.store.memories import MemoryStore
from tests.domain.samples import claim_about, distilled

RELEASED = sorted((Path(__file__).parent / "released").glob("*.sql"))
"""What `.dump` said of a database of each schema, with one memory in it and the attempts of one job."""


def _objects(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_there_is_one_of_each():
    assert [path.stem for path in RELEASED] == [f"schema-{n}" for n in range(1, len(schema.MIGRATIONS) + 1)]


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_an_old_database_becomes_as_if_it_were_made_today(path, paths):
    paths.make(paths.root)
    old = sqlite3.connect(paths.database)
    old.executescript(path.read_text("utf-8"))
    old.close()
    store = MemoryStore(paths, Ledger(paths))
    store.commit([distilled(claim_about(slot=1, object="小明"), 70)])
    fresh = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(fresh)
    assert store.using(_objects) == _objects(fresh)
    assert store.using(lambda c: c.execute("SELECT attempts FROM jobs").fetchall()) == [(2,)]
    assert [memory.now.object for memory in store.live()] == ["pnpm", "小明"]
    store.close()
