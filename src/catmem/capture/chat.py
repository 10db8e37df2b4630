"""Our own chat as a door of capture: each message is on disk before anything else happens with it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from catmem.domain.clock import Clock, now, stamp
from catmem.domain.message import Message, Role
from catmem.domain.session import SessionRef
from catmem.sessions.history import History
from catmem.sessions.records import mark_record

CLIENT = "chat"


@dataclass(frozen=True, slots=True)
class ChatLog:
    """The session file of one chat. The file is made by the first message: a chat in which nobody spoke is none."""

    history: History
    ref: SessionRef
    cwd: str
    clock: Clock

    def say(self, role: Role, text: str) -> Message | None:
        """Appends a message and returns it as stored (secrets replaced), or None if nothing of it may be kept."""
        message = Message(role=role, content=text, timestamp=now(self.clock), uid=secrets.token_hex(8))
        appended = self.history.append(self.ref, [message], cwd=self.cwd, client=CLIENT)
        return appended.new[0] if appended.new else None

    def end(self, reason: str) -> None:
        """Marks the session as ended, so that it is distilled without waiting for it to go idle."""
        if self.history.exists(self.ref):
            mark = mark_record("end", now(self.clock), key=self.ref.key, reason=reason)
            self.history.append(self.ref, [], marks=[mark], cwd=self.cwd, client=CLIENT)


def new_chat(history: History, project: str, cwd: str, clock: Clock) -> ChatLog:
    """A chat with a key of its own: its start, readable, and a few random digits."""
    started = stamp(clock())[:19].replace(":", "").replace("-", "")
    return ChatLog(history, SessionRef(project, f"{CLIENT}:{started}-{secrets.token_hex(3)}"), cwd, clock)
