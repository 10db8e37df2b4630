"""Migrations: from nothing, and from every schema that was ever released, all steps or none, after a backup."""

from __future__ import annotations

import sqlite3
import stat

import pytest

from catmem.domain.errors import SchemaTooNew
from catmem.ledger.ledger import Ledger
from catmem.store import database, schema
from catmem.store.memories import MemoryStore
from tests.domain.samples import claim_about, distilled


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


def _objects(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    return connection.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


@pytest.mark.parametrize("released", range(len(schema.MIGRATIONS) + 1))
def test_every_released_schema_comes_to_the_present_one_and_keeps_its_rows(released, monkeypatch):
    present = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(present)
    old = sqlite3.connect(":memory:", isolation_level=None)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "MIGRATIONS", schema.MIGRATIONS[:released])
        schema.migrate(old)
    if released:
        old.execute("INSERT INTO jobs VALUES('shop', 's1', 2, '', 'why')")
    schema.migrate(old)
    schema.migrate(old)
    assert _version(old) == len(schema.MIGRATIONS) and _objects(old) == _objects(present)
    assert old.execute("SELECT count(*) FROM jobs").fetchone()[0] == bool(released)


def test_a_step_that_fails_leaves_the_old_schema_whole(monkeypatch):
    connection = sqlite3.connect(":memory:", isolation_level=None)
    schema.migrate(connection)
    before = _objects(connection)
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, "CREATE TABLE one(a); CREATE TABLE one(a);"))
    with pytest.raises(sqlite3.OperationalError):
        schema.migrate(connection)
    assert _objects(connection) == before and _version(connection) == len(schema.MIGRATIONS) - 1


def test_a_backup_is_taken_before_a_migration_and_goes_with_the_forgotten(store, paths, monkeypatch):
    claim = claim_about(text="walrus-marker 不要用")
    store.commit([distilled(claim, 70)])
    before = store.all()
    store.close()
    steps = (*schema.MIGRATIONS, "ALTER TABLE jobs ADD COLUMN note TEXT NOT NULL DEFAULT ''")
    monkeypatch.setattr(schema, "MIGRATIONS", steps)
    monkeypatch.setattr(database, "MIGRATIONS", steps)
    again = MemoryStore(paths, Ledger(paths))
    assert again.all() == before
    backup = paths.root / f"memories.db.before-{len(steps)}"
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    kept = sqlite3.connect(backup)
    assert _version(kept) == len(steps) - 1 and kept.execute("SELECT count(*) FROM memories").fetchone()[0] == 1
    kept.close()
    again.forget([claim.id])
    assert not backup.exists()
    again.close()
    monkeypatch.undo()
    with pytest.raises(SchemaTooNew):
        store.all()
