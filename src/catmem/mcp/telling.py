"""Writes down what a session is told through a tool, so that `mem why` shows it and no prompt tells it again."""

from __future__ import annotations

from collections.abc import Sequence

from catmem.domain.clock import now
from catmem.inject import told
from catmem.mcp.port import Asked

DOOR = "mcp"


def tell(asked: Asked, items: Sequence[tuple[str, str]], *, query: str) -> None:
    """`items` are ids with the words that are told of each; `query` is what was asked for."""
    memory, caller = asked.memory, asked.caller
    told.tell(
        memory.paths,
        caller.name,
        door=DOOR,
        event=told.RECALL,
        project=caller.project,
        at=now(memory.clock),
        # A model may ask for what it saw of a key.
        query=memory.redact(query, "said"),
        items=[{"id": id, "section": told.RECALL} for id, _ in items],
        text="\n".join(f"- {text}" for _, text in items),
    )
