from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from tests.clients.reading import Store, chunks, format_of, messages, told, written

OLD = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT, conversation_id TEXT,
  datetime_utc TEXT, input_tokens INTEGER, output_tokens INTEGER);
CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT);
CREATE TABLE prompt_fragments (response_id TEXT, fragment_id INTEGER, "order" INTEGER);
CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
CREATE TABLE prompt_attachments (response_id TEXT, attachment_id TEXT, "order" INTEGER);
CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT, tool_call_id TEXT);
CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT, tool_call_id TEXT);
"""
NEW = """
CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT);
CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT, tool_name TEXT, text TEXT, payload TEXT);
CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT, forked_from TEXT, datetime_utc TEXT);
CREATE TABLE turns (id TEXT PRIMARY KEY, thread_id TEXT, parent_message_hash TEXT, tip_message_hash TEXT,
  input_tokens INTEGER, output_tokens INTEGER, datetime_utc TEXT);
"""


def database(path: Path, *scripts: str) -> Path:
    connection = sqlite3.connect(path)
    for script in scripts:
        connection.executescript(script)
    connection.commit()
    connection.close()
    return path


OLD_ROWS = """
INSERT INTO conversations VALUES ('c1', '茶', 'm');
INSERT INTO responses VALUES ('r1', 'm', '泡茶', 'Be brief', 'Boil.', 'c1', '2026-02-03T04:05:06.5', 7, 3);
INSERT INTO responses VALUES ('r2', 'm', 'sum up', 'Be brief', '', 'c1', '2026-02-03T04:05:07', NULL, NULL);
INSERT INTO responses VALUES ('r3', 'm', '', 'Be brief', 'Done.', 'c1', '2026-02-03T04:05:08', NULL, NULL);
INSERT INTO responses VALUES ('r9', 'm', 'alone', NULL, 'yes', NULL, '2026-02-03T04:05:09', NULL, NULL);
INSERT INTO fragments VALUES (1, 'h', 'a long paste');
INSERT INTO prompt_fragments VALUES ('r2', 1, 0);
INSERT INTO attachments VALUES ('a1', 'image/png', '/home/kim/tea.png', NULL, NULL);
INSERT INTO prompt_attachments VALUES ('r2', 'a1', 0);
INSERT INTO tool_calls VALUES (1, 'r2', 'count', '{"n": 1}', 't1');
INSERT INTO tool_results VALUES (1, 'r3', 'count', '42', 't1');
"""


def test_the_older_tables(tmp_path: Path) -> None:
    path = database(tmp_path / "logs.db", OLD, OLD_ROWS)
    assert format_of(path) == "llm"
    assert told("llm", path) == [
        ("system", "Be brief"),
        ("user", "泡茶"),
        ("assistant", "Boil."),
        ("user", "sum up\n\na long paste\n\n[image/png /home/kim/tea.png]"),
        ("assistant", ""),
        ("tool", "42"),
        ("assistant", "Done."),
        ("user", "alone"),
        ("assistant", "yes"),
    ]
    talk, alone = chunks("llm", path)
    assert (talk.session, talk.title, alone.session) == ("llm:c1", "茶", "llm:r9")
    assert talk.messages[1].timestamp == "2026-02-03T04:05:06.500Z"  # UTC, although it does not say so
    assert talk.problems == ()
    assert talk.messages[2].usage == {"input_tokens": 7, "output_tokens": 3}
    assert talk.messages[4].tool_calls[0].id == talk.messages[5].tool_call_id == "t1"
    before = path.read_bytes()
    assert Store(tmp_path).twice(path).messages_new == 9
    assert path.read_bytes() == before


def part(number: int, message: str, text: str | None, kind: str = "text", tool: str = "", **payload: object) -> str:
    values = [number, message, number, kind, tool or None, text, json.dumps(payload) if payload else None]
    told = ", ".join(
        "NULL" if value is None else f"'{value}'" if isinstance(value, str) else str(value) for value in values
    )
    return f"INSERT INTO parts VALUES ({told});"


TREE = """
INSERT INTO fragments VALUES (1, 'h', 'the novel');
INSERT INTO messages VALUES ('m1', NULL, 'user', NULL), ('m2', 'm1', 'assistant', NULL), ('m3', 'm2', 'user', NULL),
  ('m4', 'm3', 'assistant', NULL), ('m5', 'm2', 'user', NULL), ('m6', 'm5', 'assistant', NULL);
INSERT INTO threads VALUES ('t1', 'pelican', 'm4', NULL, '2026-02-03T04:05:06'), ('t2', 'fork', 'm6', 't1', '2026-02-03T05:00:00');
INSERT INTO turns VALUES ('u1', 't1', 'm1', 'm2', 5, 2, '2026-02-03T04:05:06'), ('u2', 't1', 'm3', 'm4', 6, 3, '2026-02-03T04:06:00'),
  ('u3', 't2', 'm5', 'm6', 7, 4, '2026-02-03T05:00:00');
""" + "".join(
    (
        part(1, "m1", None, text_ref=[{"fragment": 1}, {"literal": "\\n关于它"}]),
        part(2, "m2", "I look."),
        part(3, "m2", None, "tool_call", "count", tool_call_id="x1", arguments={"n": 1}),
        part(4, "m3", "42", "tool_result", "count", tool_call_id="x1"),
        part(5, "m3", "thanks"),
        part(6, "m4", "hm", "reasoning"),
        part(7, "m4", "Done."),
        part(8, "m5", "another way"),
        part(9, "m6", "Yes."),
    )
).replace("\\\\n", "\\n")


def test_the_tree_of_messages_and_a_fork_that_shares_its_beginning(tmp_path: Path) -> None:
    path = database(tmp_path / "logs.db", NEW, TREE)
    assert format_of(path) == "llm"
    first, fork = chunks("llm", path)
    assert [(m.role, m.content) for m in first.messages] == [
        ("user", "the novel\n关于它"),
        ("assistant", "I look."),
        ("tool", "42"),
        ("user", "thanks"),
        ("assistant", "Done."),
    ]
    assert first.messages[1].tool_calls[0].arguments == '{"n": 1}'
    assert first.messages[4].timestamp == "2026-02-03T04:06:00.000Z"
    assert first.messages[4].usage == {"input_tokens": 6, "output_tokens": 3}
    assert [(m.role, m.content) for m in fork.messages] == [("user", "another way"), ("assistant", "Yes.")]
    assert Store(tmp_path).twice(path).messages_new == 7


def test_a_database_of_both_generations_is_one_history(tmp_path: Path) -> None:
    new = NEW.replace("CREATE TABLE fragments (id INTEGER PRIMARY KEY, hash TEXT, content TEXT);", "")
    turn = """INSERT INTO messages VALUES ('m1', NULL, 'user', NULL); INSERT INTO threads VALUES ('c1', 'x', 'm1', NULL, NULL);
    INSERT INTO turns VALUES ('u1', 'c1', NULL, 'm1', NULL, NULL, '2026-03-03T04:05:06');"""
    path = database(tmp_path / "logs.db", OLD, OLD_ROWS, new, turn, part(1, "m1", "later"))
    assert messages("llm", path)[-3].content == "later"
    assert len(Store(tmp_path).once(path).touched) == 2


def test_another_database_is_none_of_llm(tmp_path: Path) -> None:
    path = database(tmp_path / "x.db", "CREATE TABLE messages (id TEXT)")
    assert format_of(path) == ""
    assert "has none of the tables" in Store(tmp_path).once(path, source="llm").problems[0].reason
    assert Store(tmp_path).once(written(tmp_path / "y" / "z.db", b"SQLite format 3\x00bad").parent).problems == []
