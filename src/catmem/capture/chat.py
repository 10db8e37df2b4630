"""Our own chat as a door of capture: each message is on disk before anything else happens with it."""

from __future__ import annotations

import contextlib
import secrets
from dataclasses import dataclass
from pathlib import Path

from catmem.domain.clock import Clock, now, stamp
from catmem.domain.errors import LockBusy
from catmem.domain.message import Message, Role
from catmem.domain.session import SessionRef
from catmem.sessions.history import History
from catmem.sessions.locks import SessionLock, session_lock
from catmem.sessions.names import file_name
from catmem.sessions.records import mark_record
from catmem.settings.paths import Paths
from catmem.text.private import strip_injected, strip_private

CLIENT = "chat"
OUR_WORDS = "notice"
"""The kind of a system message that catmem itself says in a chat: what is recalled there is not said anew by anybody."""


class Presence:
    """A lock that says that a chat is alive: the kernel frees it when the process dies, however it does."""

    def __init__(self, paths: Paths, ref: SessionRef) -> None:
        self.path = _presences(paths) / f"{file_name(ref.key)}.lock"
        self._lock: SessionLock = session_lock(str(self.path), wait=0.0)
        self._lock.__enter__()

    def leave(self) -> None:
        """Unlike a session's lock, it may be deleted: the key of a chat is never used again."""
        with contextlib.suppress(OSError):
            self.path.unlink()
        self._lock.__exit__()


@dataclass(frozen=True, slots=True)
class ChatLog:
    """The session file of one chat. The file is made by the first message: a chat in which nobody spoke is none."""

    history: History
    ref: SessionRef
    cwd: str
    clock: Clock
    presence: Presence

    def say(self, role: Role, text: str, kind: str = "") -> Message | None:
        """Appends a message and returns it as stored (secrets replaced), or None if nothing of it may be kept."""
        if not strip_injected(strip_private(text)).strip():
            return None
        message = Message(role=role, content=text, timestamp=now(self.clock), uid=secrets.token_hex(8), kind=kind)
        appended = self.history.append(self.ref, [message], cwd=self.cwd, client=CLIENT)
        return appended.new[0] if appended.new else None

    def end(self, reason: str) -> bool:
        """Marks the session as ended, so that it is distilled without waiting for it to go idle. False if it is none."""
        if not self.history.exists(self.ref):
            self.presence.leave()
            return False
        # If this fails, the presence stays until the process ends, and the next chat ends this one.
        _mark_end(self.history, self.ref, reason, self.clock)
        self.presence.leave()
        return True


def new_chat(history: History, paths: Paths, project: str, cwd: str, clock: Clock) -> ChatLog:
    """A chat with a key of its own: its start, readable, and a few random digits."""
    started = stamp(clock())[:19].replace(":", "").replace("-", "")
    ref = SessionRef(project, f"{CLIENT}:{started}-{secrets.token_hex(3)}")
    return ChatLog(history, ref, cwd, clock, Presence(paths, ref))


def end_abandoned_chats(history: History, paths: Paths, clock: Clock) -> list[SessionRef]:
    """Ends the chats of this machine whose process died without doing it (kill -9, power loss); returns which.

    They are distilled at once then, and not only when they have been idle long enough.
    """
    left = {path.name for path in _presences(paths).glob("*.lock")}
    if not left:
        return []
    ended = []
    for header in [h for h in history.headers() if f"{file_name(h.key)}.lock" in left]:
        with contextlib.suppress(LockBusy):
            presence = Presence(paths, header.ref)
            if not header.metadata.get("ended"):
                _mark_end(history, header.ref, "abandoned", clock)
                ended.append(header.ref)
            presence.leave()
    return ended


def _mark_end(history: History, ref: SessionRef, reason: str, clock: Clock) -> None:
    mark = mark_record("end", now(clock), key=ref.key, reason=reason)
    history.append(ref, [], marks=[mark], client=CLIENT)


def _presences(paths: Paths) -> Path:
    return paths.run / "chats"
