BEGIN TRANSACTION;
CREATE TABLE changes(
        device TEXT NOT NULL, seq INTEGER NOT NULL, at TEXT NOT NULL, op TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY(device, seq)) WITHOUT ROWID;
INSERT INTO "changes" VALUES('523099fe',1,'2026-05-28T20:27:50.000Z','distilled','{"seq": 1, "at": "2026-05-28T20:27:50.000Z", "device": "523099fe", "op": "distilled", "by": "distiller", "job": {"project": "shop", "session": "s1", "first_id": 1, "last_id": 9, "recipe": "rules/1"}, "claims": [{"id": "m3f0c7663f3db", "scope": "project", "project": "shop", "kind": "convention", "subject": "project", "predicate": "package manager", "object": "pnpm", "text": "walrus 用 pnpm", "valid_from": "2026-05-28T20:26:40.000Z", "confidence": 0.8, "evidence": [{"session": "s1", "project": "shop", "message_id": 1, "quote": "walrus 用 pnpm", "at": "2026-05-28T20:26:40.000Z"}]}], "digest": {"text": "about walrus 用 pnpm", "topics": [], "progress": []}}');
CREATE TABLE digests(
        project TEXT NOT NULL, session TEXT NOT NULL, device TEXT NOT NULL, seq INTEGER NOT NULL,
        first_id INTEGER NOT NULL, at TEXT NOT NULL, record TEXT NOT NULL,
        PRIMARY KEY(project, session, device, seq)) WITHOUT ROWID;
INSERT INTO "digests" VALUES('shop','s1','523099fe',1,1,'2026-05-28T20:27:50.000Z','{"text": "about walrus 用 pnpm", "topics": [], "progress": []}');
CREATE TABLE distilled(
        project TEXT NOT NULL, session TEXT NOT NULL, device TEXT NOT NULL, seq INTEGER NOT NULL,
        last_id INTEGER NOT NULL, PRIMARY KEY(project, session, device, seq)) WITHOUT ROWID;
INSERT INTO "distilled" VALUES('shop','s1','523099fe',1,9);
CREATE TABLE evidence(
        memory TEXT NOT NULL, project TEXT NOT NULL, session TEXT NOT NULL, message_id INTEGER NOT NULL,
        PRIMARY KEY(memory, project, session, message_id)) WITHOUT ROWID;
INSERT INTO "evidence" VALUES('m3f0c7663f3db','shop','s1',1);
CREATE TABLE jobs(
        project TEXT NOT NULL, session TEXT NOT NULL, attempts INTEGER NOT NULL, not_before TEXT NOT NULL,
        error TEXT NOT NULL, PRIMARY KEY(project, session)) WITHOUT ROWID;
INSERT INTO "jobs" VALUES('shop','s9',2,'','why');
CREATE TABLE ledgers(
        device TEXT PRIMARY KEY, inode INTEGER NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL,
        end INTEGER NOT NULL, mark TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "ledgers" VALUES('523099fe',3401313,1796059915582698060,688,688,'3eef6ac1b83d7bc8');
CREATE TABLE memories(
        id TEXT PRIMARY KEY, project TEXT NOT NULL, scope TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
        subject TEXT NOT NULL, predicate TEXT NOT NULL, text TEXT NOT NULL, pinned INTEGER NOT NULL,
        confirmations INTEGER NOT NULL, updated_at TEXT NOT NULL, turn INTEGER NOT NULL, record TEXT NOT NULL);
INSERT INTO "memories" VALUES('m3f0c7663f3db','shop','project','convention','live','project','package manager','walrus 用 pnpm',0,1,'2026-05-28T20:27:50.000Z',1796059915545005,'{"id":"m3f0c7663f3db","project":"shop","created_at":"2026-05-28T20:26:40.000Z","updated_at":"2026-05-28T20:27:50.000Z","superseded_by":"","explicit":false,"revisions":[{"version":1,"status":"live","scope":"project","kind":"convention","subject":"project","predicate":"package manager","object":"pnpm","text":"walrus 用 pnpm","tags":[],"confidence":0.8,"pinned":false,"at":"2026-05-28T20:27:50.000Z","by":"distiller","why":"","valid_from":"2026-05-28T20:26:40.000Z","valid_to":"","evidence":[{"session":"s1","project":"shop","message_id":1,"quote":"walrus 用 pnpm","at":"2026-05-28T20:26:40.000Z"}]}]}');
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('turn','1796059915545005');
CREATE TABLE problems(device TEXT NOT NULL, start INTEGER NOT NULL, reason TEXT NOT NULL,
        PRIMARY KEY(device, start)) WITHOUT ROWID;
CREATE TABLE statements(hash TEXT NOT NULL, memory TEXT NOT NULL, PRIMARY KEY(hash, memory)) WITHOUT ROWID;
INSERT INTO "statements" VALUES('123554e57dbc8ea42ce384631fde4a58','m3f0c7663f3db');
CREATE TABLE touches(
        memory TEXT NOT NULL, device TEXT NOT NULL, seq INTEGER NOT NULL,
        PRIMARY KEY(memory, device, seq)) WITHOUT ROWID;
INSERT INTO "touches" VALUES('m3f0c7663f3db','523099fe',1);
CREATE INDEX changes_that_forget ON changes(device, seq) WHERE op = 'forget';
CREATE INDEX touches_by_device ON touches(device);
CREATE INDEX memories_by_project ON memories(project, status);
CREATE INDEX memories_by_turn ON memories(turn);
CREATE INDEX evidence_by_session ON evidence(project, session);
COMMIT;
PRAGMA user_version=1;
