"""Whose words a user line holds: by its flags, and by the tags within its text."""

from __future__ import annotations

from collections.abc import Sequence

from catmem.clients.claude_code import wire
from catmem.clients.claude_code.typed import separate
from catmem.clients.claude_code.wire import Record, text_of


def words_of(record: Record, blocks: Sequence[Record]) -> tuple[str, str, str]:
    """(what a person typed, the kind of the rest, the rest). A line that the program wrote has only a rest."""
    said: list[str] = []
    notes: list[str] = []
    kind = ""
    for block in blocks:
        if block.get("type") == "text":
            words, other, note = separate(text_of(block.get("text")))
            said.append(words)
            notes.append(note)
            kind = kind or other
        elif block.get("type") in ("image", "document"):
            said.append(wire.placeholder(block))
    typed = "\n".join(part for part in said if part.strip())
    rest = "\n".join(part for part in notes if part)
    written = _written_kind(record, kind)
    return ("", written, typed or rest) if written else (typed, kind, rest)


def _written_kind(record: Record, kind: str) -> str:
    """The kind of a line of which nothing was typed, "" if a person may have typed it."""
    if record.get("isCompactSummary") is True:
        return "summary"
    if wire.is_side_chain(record):
        return "agent"
    if wire.is_written_by_program(record):
        # A skill or command is expanded into a text of its own.
        return kind or ("command" if record.get("sourceToolUseID") else "notice")
    return ""
