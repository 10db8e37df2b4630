"""The schema of memories.db, as numbered steps; `PRAGMA user_version` says how many have been taken.

Everything in it is derived from the ledgers, except the attempts of jobs, which may be lost without harm.

`device` and `seq` say which line of which ledger a row comes from: a ledger that was rewritten is read anew.
`meta.turn` counts the folds; it begins at the clock (microseconds), so that a database made anew is ahead of every reader's watermark.
`meta.unwiped` stands from when words are forgotten until no file holds them any more.
"""

from __future__ import annotations

import sqlite3

from catmem.domain.errors import SchemaTooNew

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE ledgers(
        device TEXT PRIMARY KEY, inode INTEGER NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
        end INTEGER NOT NULL, mark TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE changes(
        device TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, op TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY(device, seq)) WITHOUT ROWID;
    CREATE INDEX changes_that_forget ON changes(device, seq) WHERE op = 'forget';
    CREATE TABLE touches(
        memory TEXT NOT NULL, device TEXT NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY(memory, device, seq)) WITHOUT ROWID;
    CREATE INDEX touches_by_device ON touches(device);
    CREATE TABLE statements(hash TEXT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY(hash, memory)) WITHOUT ROWID;
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
        project TEXT NOT NULL, session TEXT NOT NULL, device TEXT NOT NULL, seq INTEGER NOT NULL,
        last_id INTEGER NOT NULL, PRIMARY KEY(project, session, device, seq)) WITHOUT ROWID;
    CREATE TABLE digests(
        project TEXT NOT NULL, session TEXT NOT NULL, device TEXT NOT NULL, seq INTEGER NOT NULL,
        first_id INTEGER NOT NULL, at TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY(project, session, device, seq)) WITHOUT ROWID;
    CREATE TABLE jobs(
        project TEXT NOT NULL, session TEXT NOT NULL, attempts INTEGER NOT NULL, not_before TEXT NOT NULL,
        error TEXT NOT NULL, PRIMARY KEY(project, session)) WITHOUT ROWID;
    CREATE TABLE problems(device TEXT NOT NULL, start INTEGER NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY(device, start)) WITHOUT ROWID;
    CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES('turn', CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER));
    """,
)


def refuse_newer(connection: sqlite3.Connection) -> int:
    """The schema of a database. Raises SchemaTooNew for one that a later catmem wrote."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise SchemaTooNew(
            f"memories.db has schema {version}, this catmem knows {len(MIGRATIONS)}; update catmem",
            f"memories.db 的结构版本是 {version}，本程序只认识到 {len(MIGRATIONS)}；请升级 catmem",
        )
    return version


def migrate(connection: sqlite3.Connection) -> None:
    """Brings a database to the present schema, all steps or none. Raises SchemaTooNew."""
    if refuse_newer(connection) == len(MIGRATIONS):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Another process may have migrated while we waited for the lock.
        version = refuse_newer(connection)
        for number, step in enumerate(MIGRATIONS[version:], version + 1):
            for statement in step.split(";"):
                if statement.strip():
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
