"""One conversation: how it is named, what its first line says, and which of its branches is alive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from catmem.domain.living import living
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
    numbers = {"": 0}
    uids = [numbers.setdefault(m.uid, len(numbers)) for m in messages]
    parents = [numbers.setdefault(m.parent, len(numbers)) for m in messages]
    places = {uid: place for place, uid in enumerate(uids) if uid}
    said = [m.role in ("user", "assistant") for m in messages]
    alive = living(uids, parents, said, numbers.get(leaf, 0), lambda uid: places.get(uid, -1))
    return [m for m, lives in zip(messages, alive, strict=True) if lives]
