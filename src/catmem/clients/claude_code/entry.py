"""A message while it is put together from the lines of a transcript."""

from __future__ import annotations

from dataclasses import dataclass, field

from catmem.domain.message import Message, Role, ToolCall


@dataclass(slots=True)
class Entry:
    """`parent` is the uuid of the line before until it is resolved; `side` marks a line of a subagent."""

    uid: str
    role: Role
    parent: str
    timestamp: str
    kind: str = ""
    parts: list[str] = field(default_factory=list)
    calls: dict[str, ToolCall] = field(default_factory=dict)
    call_id: str = ""
    usage: dict[str, int] | None = None
    side: bool = False

    @property
    def is_empty(self) -> bool:
        """True for a reply of which only thoughts were written down: it makes no message."""
        return not self.calls and not self.call_id and not any(part.strip() for part in self.parts)

    def message(self) -> Message:
        return Message(
            role=self.role,
            content="\n\n".join(self.parts),
            timestamp=self.timestamp,
            uid=self.uid,
            parent=self.parent,
            kind=self.kind,
            tool_calls=tuple(self.calls.values()),
            tool_call_id=self.call_id,
            usage=self.usage,
        )
