"""One conversation: how it is named, what its first line says, and which of its branches is alive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from catmem.domain.message import Message


@dataclass(frozen=True, slots=True, order=True)
class SessionRef:
    """Names a session: the same key in two projects is two sessions."""

    project: str
    key: str


@dataclass(frozen=True, slots=True)
class SessionHeader:
    """Line 1 of a session file: what a listing shows. Derived from the body, never the only copy of anything.

    `metadata` has at least project, cwd, client, count (messages) and last_id.
    """

    key: str
    title: str
    preview: str
    created_at: str
    updated_at: str
    last_consolidated: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def ref(self) -> SessionRef:
        return SessionRef(str(self.metadata.get("project", "")), self.key)

    @property
    def count(self) -> int:
        return int(self.metadata.get("count", 0))

    @property
    def last_id(self) -> int:
        return int(self.metadata.get("last_id", 0))


def live_path(messages: Sequence[Message], leaf: str = "") -> list[Message]:
    """The messages of the branch that the user is on, in the order of the talk.

    A rewind leaves two answers to one parent, or none that counts; only the branch that leads to `leaf` (or, without
    one, to the newest message) is what was finally said. The parent itself may be in the archive, in the session that this one
    continues, or no message at all. Messages whose source knows no parents are always alive.
    """
    by_uid = {m.uid: m for m in messages if m.uid}
    children: dict[str, int] = {}
    for m in messages:
        if m.parent:
            children[m.parent] = children.get(m.parent, 0) + 1
    if all(n < 2 for n in children.values()) and leaf not in children:
        return list(messages)
    known = leaf in by_uid or leaf in children
    alive = _ancestry(by_uid, leaf if known else _newest_leaf(messages, children))
    # A message off the path is dead only if it hangs from a branching point: parallel tool results and
    # messages without parents stay.
    return [m for m in messages if m.uid in alive or not _leaves_path(m, by_uid, alive)]


def _newest_leaf(messages: Sequence[Message], children: dict[str, int]) -> str:
    leaves = [m for m in messages if m.uid and m.uid not in children and m.role in ("user", "assistant")]
    return leaves[-1].uid if leaves else messages[-1].uid


def _ancestry(by_uid: dict[str, Message], leaf: str) -> set[str]:
    alive: set[str] = set()
    while leaf and leaf not in alive:
        alive.add(leaf)
        leaf = by_uid[leaf].parent if leaf in by_uid else ""
    return alive


def _leaves_path(message: Message, by_uid: dict[str, Message], alive: set[str]) -> bool:
    """True if the chain of parents of a message runs into the living path from a dead branch."""
    seen: set[str] = set()
    current = message
    while current.parent and current.uid not in seen:
        seen.add(current.uid)
        if current.parent in alive:
            # Directly on the path: a tool result beside it is part of the turn, words are a dead branch.
            return current.role in ("user", "assistant")
        if current.parent not in by_uid:
            break
        current = by_uid[current.parent]
    return False
