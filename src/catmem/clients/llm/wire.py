"""The tables of simonw/llm's `logs.db`, of both generations: responses, and since 2026 a tree of messages with turns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from catmem.clients.draft import Record, record_of, records_in, text_of
from catmem.clients.foreign_db import ForeignDatabase
from catmem.clients.lines import records_of

USAGE = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}


class Node(NamedTuple):
    """A message of the tree with its parts in order."""

    hash: str
    parent: str
    role: str
    parts: list[Record]


def selected(
    database: ForeignDatabase, table: str, wanted: tuple[str, ...], rest: str = "", *values: Any
) -> Iterator[Record]:
    """Rows of a table as records; a column that this version lacks is None. None at all where the table is missing."""
    there = database.columns(table)
    if not there:
        return
    columns = ", ".join(f'"{name}"' if name in there else f'NULL AS "{name}"' for name in wanted)
    for row in database.rows(f'SELECT {columns} FROM "{table}" {rest}', values):
        yield dict(zip(wanted, row, strict=True))


def json_of(value: object) -> Record:
    values, reason = records_of(value.encode("utf-8", "replace")) if isinstance(value, str) else ([], "")
    return record_of(values[0]) if values and not reason else {}


def fragments(database: ForeignDatabase, table: str, response: str) -> list[str]:
    """The texts that were given along with a prompt, in their order."""
    if not database.columns(table) or not database.columns("fragments"):
        return []
    query = (
        f'SELECT f.content FROM "{table}" p JOIN fragments f ON f.id = p.fragment_id '
        'WHERE p.response_id = ? ORDER BY p."order"'
    )
    return [text_of(row[0]) for row in database.rows(query, (response,))]


def attachments(database: ForeignDatabase, response: str) -> list[str]:
    if not database.columns("prompt_attachments") or not database.columns("attachments"):
        return []
    query = (
        "SELECT a.type, a.path, a.url FROM prompt_attachments p JOIN attachments a ON a.id = p.attachment_id "
        'WHERE p.response_id = ? ORDER BY p."order"'
    )
    rows = database.rows(query, (response,))
    return [
        " ".join(["[" + (text_of(kind) or "attachment"), *filter(None, (path or url,))]) + "]"
        for kind, path, url in rows
    ]


def chain(database: ForeignDatabase, tip: str, known: set[str]) -> list[Node]:
    """The messages that lead to `tip` and are not among `known`, the first first."""
    found: list[Node] = []
    while tip and tip not in known:
        row = next(selected(database, "messages", ("hash", "parent_hash", "role"), "WHERE hash = ?", tip), None)
        if row is None:
            break
        wanted = ("position", "type", "tool_name", "text", "payload")
        parts = list(selected(database, "parts", wanted, "WHERE message_hash = ? ORDER BY position", tip))
        found.append(Node(tip, text_of(row["parent_hash"]), text_of(row["role"]), parts))
        known.add(tip)
        tip = found[-1].parent
    return found[::-1]


def part_text(database: ForeignDatabase, part: Record) -> str:
    """The words of a part; a text that borrows from fragments is put together again."""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    pieces = []
    for piece in records_in(json_of(part.get("payload")).get("text_ref")):
        if "literal" in piece:
            pieces.append(text_of(piece["literal"]))
        else:
            rows = database.rows("SELECT content FROM fragments WHERE id = ?", (piece.get("fragment"),))
            pieces += [text_of(row[0]) for row in rows]
    return "".join(pieces)
