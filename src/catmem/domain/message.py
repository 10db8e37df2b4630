"""One message of a session, as every door delivers it and every step reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

Role = Literal["user", "assistant", "tool", "system"]
"""Who speaks. `user` is only what a person typed; what a harness put into the user's mouth is `system`."""

ROLES: tuple[Role, ...] = ("user", "assistant", "tool", "system")


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that an assistant made: `arguments` is the JSON text as sent."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `id` is 0 until the session file has given it one.

    `uid` is the same wherever this message is met again: another door, a copy of the history, a device.
    `parent` is the uid that it answers, where the source knows it; branches of a rewound talk share one.
    `kind` is "" for what was said, else what a system message is: summary, notice, reminder, command, agent.
    """

    role: Role
    content: str
    timestamp: str
    uid: str
    id: int = 0
    session_key: str = ""
    parent: str = ""
    kind: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    usage: Mapping[str, int] | None = None

    def numbered(self, id: int, session_key: str) -> Message:
        return replace(self, id=id, session_key=session_key)


def is_said(message: Message) -> bool:
    """True for the words of the person and of the assistant: what distilling and passages are about."""
    return message.role in ("user", "assistant") and bool(message.content.strip())
