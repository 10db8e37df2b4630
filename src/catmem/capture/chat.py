"""Our own chat as a door of capture: each message is on disk before anything else happens with it."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from catmem.domain.clock import Clock, now, stamp
from catmem.domain.errors import LockBusy
from catmem.domain.message import Message, Role
from catmem.domain.session import SessionRef
from catmem.sessions.door import admitted
from catmem.sessions.history import History
from catmem.sessions.locks import SessionLock, session_lock
from catmem.sessions.names import file_name
from catmem.sessions.records import mark_record, message_to_record
from catmem.settings.paths import Paths
from catmem.text.private import strip_injected, strip_private

CLIENT = "chat"
OUR_WORDS = "notice"
"""The kind of a system message that catmem itself says in a chat: what is recalled there is not said anew by anybody."""


class Presence:
    """A lock that says that a chat is alive: the kernel frees it when the process dies, however it does."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: SessionLock = session_lock(str(path), wait=0.0)
        self._lock.__enter__()

    def leave(self) -> None:
        """Unlike a session's lock, it may be deleted: who waits for it finds that it is gone (see sessions/locks)."""
        with contextlib.suppress(OSError):
            self.path.unlink()
        self._lock.__exit__()


class Log(Protocol):
    """Where what is said in a chat goes."""

    def say(self, role: Role, text: str, kind: str = "") -> Message | None:
        """Takes a message and returns it as kept (secrets replaced), or None if nothing of it may be kept."""
        ...


@dataclass(slots=True)
class ChatLog:
    """The session file of one chat. The file is made by the first message: a chat in which nobody spoke is none.

    `spoke` is True once a message was appended by this process.
    """

    history: History
    ref: SessionRef
    cwd: str
    clock: Clock
    presence: Presence
    spoke: bool = False

    def say(self, role: Role, text: str, kind: str = "") -> Message | None:
        """Appends a message and returns it as stored, or None if nothing of it may be kept."""
        message = _message(role, text, kind, self.clock)
        return self.append([message]) if message is not None else None

    def append(self, messages: list[Message]) -> Message | None:
        """Appends messages in one step; returns the last one as stored."""
        appended = self.history.append(self.ref, messages, cwd=self.cwd, client=CLIENT)
        self.spoke = self.spoke or bool(appended.new)
        return appended.new[-1] if appended.new else None

    def end(self, reason: str) -> bool:
        """Marks the session as ended, so that it is distilled without waiting for it to go idle.

        False if nothing was said, and so nothing marked.
        """
        if self.spoke:
            # If this fails, the presence stays until the process ends, and the next chat ends this one.
            _mark_end(self.history, self.ref, reason, self.clock)
        self.presence.leave()
        return self.spoke


class PureLog:
    """What is said in pure mode: it waits in memory, and is gone with the process unless the user wants it kept."""

    def __init__(self, redact: Callable[[str, str], str], clock: Clock) -> None:
        self.waiting: list[Message] = []
        self._redact = redact
        self._clock = clock

    def say(self, role: Role, text: str, kind: str = "") -> Message | None:
        """Holds a message; it is what a session file would have of it, since a model hears no more than that."""
        message = _message(role, text, kind, self._clock)
        if message is not None:
            content = admitted(message_to_record(message), self._redact)["content"]
            message = Message(message.role, content, message.timestamp, message.uid, kind=kind)
            self.waiting.append(message)
        return message


def _message(role: Role, text: str, kind: str, clock: Clock) -> Message | None:
    if not strip_injected(strip_private(text)).strip():
        return None
    return Message(role=role, content=text, timestamp=now(clock), uid=secrets.token_hex(8), kind=kind)


def new_chat(history: History, paths: Paths, project: str, cwd: str, clock: Clock) -> ChatLog:
    """A chat with a key of its own: its start, readable, and a few random digits."""
    started = stamp(clock())[:19].replace(":", "").replace("-", "")
    ref = SessionRef(project, f"{CLIENT}:{started}-{secrets.token_hex(3)}")
    return ChatLog(history, ref, cwd, clock, Presence(_place(paths, ref)))


def earlier_chat(history: History, paths: Paths, ref: SessionRef, cwd: str, clock: Clock) -> ChatLog:
    """An earlier chat, to be gone on with. Raises LockBusy if another process has it open."""
    try:
        presence = Presence(_place(paths, ref))
    except LockBusy:
        raise LockBusy(
            f"{ref.key} is open in another terminal; end it there first", f"{ref.key} 正在另一个终端中；请先在那里结束"
        ) from None
    return ChatLog(history, ref, cwd, clock, presence)


def end_abandoned_chats(history: History, paths: Paths, clock: Clock) -> list[SessionRef]:
    """Ends the chats of this machine whose process died without doing it (kill -9, power loss); returns which.

    They are distilled at once then, and not only when they have been idle long enough.
    """
    left = set(_presences(paths).glob("*.lock"))
    if not left:
        return []
    headers = {place: header for header in history.headers() if (place := _place(paths, header.ref)) in left}
    ended = []
    for place in sorted(left):
        # One that nobody spoke in has no session.
        header = headers.get(place)
        with contextlib.suppress(LockBusy):
            presence = Presence(place)
            if header is not None and not header.metadata.get("ended"):
                _mark_end(history, header.ref, "abandoned", clock)
                ended.append(header.ref)
            presence.leave()
    return ended


def _mark_end(history: History, ref: SessionRef, reason: str, clock: Clock) -> None:
    mark = mark_record("end", now(clock), key=ref.key, reason=reason)
    history.append(ref, [], marks=[mark], client=CLIENT)


def _place(paths: Paths, ref: SessionRef) -> Path:
    return _presences(paths) / f"{file_name(ref.key)}.lock"


def _presences(paths: Paths) -> Path:
    return paths.run / "chats"
