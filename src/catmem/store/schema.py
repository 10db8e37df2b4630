"""The schema of memories.db, as numbered steps; `PRAGMA user_version` says how many have been taken.

Everything in it is derived from the ledgers, except the attempts of jobs, which may be lost without harm.
"""

from __future__ import annotations

import sqlite3

from catmem.domain.errors import SchemaTooNew

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE ledgers(device TEXT PRIMARY KEY, inode INTEGER NOT NULL, end INTEGER NOT NULL);
    CREATE TABLE changes(
        device TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, op TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY(device, seq)) WITHOUT ROWID;
    CREATE TABLE touches(
        memory TEXT NOT NULL, device TEXT NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY(memory, device, seq)) WITHOUT ROWID;
    CREATE TABLE statements(hash TEXT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY(hash, memory)) WITHOUT ROWID;
    CREATE TABLE tombstones(hash TEXT PRIMARY KEY) WITHOUT ROWID;
    CREATE TABLE memories(
        id TEXT PRIMARY KEY, project TEXT NOT NULL, scope TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
        subject TEXT NOT NULL, predicate TEXT NOT NULL, text TEXT NOT NULL, pinned INTEGER NOT NULL,
        confirmations INTEGER NOT NULL, updated_at TEXT NOT NULL, turn INTEGER NOT NULL, record TEXT NOT NULL);
    CREATE INDEX memories_by_project ON memories(project, status);
    CREATE INDEX memories_by_turn ON memories(turn);
    CREATE TABLE evidence(
        memory TEXT NOT NULL, project TEXT NOT NULL, session TEXT NOT NULL, message_id INTEGER NOT NULL,
        PRIMARY KEY(memory, project, session, message_id)) WITHOUT ROWID;
    CREATE INDEX evidence_by_session ON evidence(project, session);
    CREATE TABLE distilled(
        project TEXT NOT NULL, session TEXT NOT NULL, last_id INTEGER NOT NULL, at TEXT NOT NULL,
        PRIMARY KEY(project, session)) WITHOUT ROWID;
    CREATE TABLE digests(
        project TEXT NOT NULL, session TEXT NOT NULL, first_id INTEGER NOT NULL, last_id INTEGER NOT NULL,
        at TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY(project, session, first_id)) WITHOUT ROWID;
    CREATE TABLE jobs(
        project TEXT NOT NULL, session TEXT NOT NULL, attempts INTEGER NOT NULL, not_before TEXT NOT NULL,
        error TEXT NOT NULL, PRIMARY KEY(project, session)) WITHOUT ROWID;
    CREATE TABLE problems(device TEXT NOT NULL, start INTEGER NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY(device, start)) WITHOUT ROWID;
    CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES('turn', '0');
    """,
)


def migrate(connection: sqlite3.Connection) -> None:
    """Brings a database to the present schema. Raises SchemaTooNew for one that a later catmem wrote."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise SchemaTooNew(
            f"memories.db has schema {version}, this catmem knows {len(MIGRATIONS)}; update catmem",
            f"memories.db 的结构版本是 {version}，本程序只认识到 {len(MIGRATIONS)}；请升级 catmem",
        )
    if version == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while we waited for the lock.
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for number, step in enumerate(MIGRATIONS[version:], version + 1):
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
