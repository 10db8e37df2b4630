"""What a session holds already, as far as taking more of it in depends on it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from catmem.domain.errors import NotFound
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.sessions.branches import under_own_names
from catmem.sessions.history import History
from catmem.text.encoding import clean
from catmem.text.private import strip_injected, strip_private

BY_HOOK = "hook:"
"""Begins the uid of what a hook captured before the transcript had it."""
TYPED_AHEAD = "queued:"
"""Begins the uid of words that were queued and have no line of their own."""

_SECRET = re.compile(r"\[secret:[^\]]*\]")


def prompt_uid(prompt_id: str) -> str:
    return f"{BY_HOOK}{prompt_id}"


def is_same_text(stored: str, raw: str) -> bool:
    """True if `stored` is what the door lets through of `raw`: private parts gone, secrets replaced, blanks aside."""
    said = " ".join(strip_injected(strip_private(clean(raw))).split())
    kept = " ".join(stored.split())
    if said == kept:
        return True
    if "[secret:" not in kept:
        return False
    pattern = ".+?".join(re.escape(part) for part in _SECRET.split(kept))
    return re.fullmatch(pattern, said, re.DOTALL) is not None


class Known:
    """The uids, the unmatched provisional messages and the marks of one session; empty if there is none yet."""

    def __init__(self, history: History, ref: SessionRef) -> None:
        self.ref = ref
        try:
            content = history.read(ref)
            self.messages = list(content.messages)
            self.marks: list[Mapping[str, Any]] = list(content.marks)
            self.exists = True
        except NotFound:
            self.messages, self.marks, self.exists = [], [], False
        # What a hook captured has, in the file, the name that the hook gave; everywhere else that of the transcript.
        self._file_names = {m["as"]: m["uid"] for m in self.marks if m["mark"] == "known_as" and "as" in m}
        self.messages = under_own_names(self.messages, self.marks)
        self.uids = {message.uid for message in self.messages if message.uid}
        self.uids.update(str(mark.get("uid", "")) for mark in self.marks if mark["mark"] == "known_as")
        self._provisional = [m for m in self.messages if m.uid.startswith((BY_HOOK, TYPED_AHEAD))]
        named = {uid for mark in self.marks if mark["mark"] == "inherited" for uid in mark.get("uids", ())}
        self.inherited = named | {own for own, uid in self._file_names.items() if uid in named}

    def file_name(self, uid: str) -> str:
        """The uid that a message has in the session file."""
        return str(self._file_names.get(uid, uid))

    def says(self, mark: Mapping[str, Any]) -> bool:
        """True if the last mark of this name says the same."""
        last: Mapping[str, Any] = next((m for m in reversed(self.marks) if m["mark"] == mark["mark"]), {})
        return bool(last) and all(last.get(name) == value for name, value in mark.items())

    def add(self, message: Message) -> None:
        self.messages.append(message)
        self.uids.add(message.uid)
        self.exists = True
        if message.uid.startswith((BY_HOOK, TYPED_AHEAD)):
            self._provisional.append(message)

    def twins(self, message: Message, prompt_id: str) -> list[Message]:
        """What was stored provisionally of a message that now comes with its own uid: one of each kind at most."""
        twins = []
        for prefix in (BY_HOOK, TYPED_AHEAD):
            ours = [m for m in self._provisional if m.uid.startswith(prefix) and m.role == message.role]
            named = [m for m in ours if prompt_id and m.uid == prompt_uid(prompt_id)]
            twin = next(iter(named), None) or next((m for m in ours if _is_twin(m, message)), None)
            if twin:
                twins.append(twin)
                self._provisional.remove(twin)
        if twins:
            self.uids.add(message.uid)
        return twins

    def was_said_after(self, ahead: Message) -> bool:
        """True if words typed ahead were met already with a line of their own."""
        return any(
            m.role == "user" and m.timestamp >= ahead.timestamp and is_same_text(m.content, ahead.content)
            for m in self.messages
        )

    def has_answer(self, reply: str) -> bool:
        """True if the assistant said this since the last word of the user."""
        for message in reversed(self.messages):
            if message.role == "user":
                return False
            if message.role == "assistant" and _ends_with(reply, message.content):
                return True
        return False

    def last_said(self) -> str:
        """The uid of the user's last message, "" if there is none."""
        return next((m.uid for m in reversed(self.messages) if m.role == "user"), "")

    def source(self, path: str) -> Mapping[str, Any] | None:
        """The mark that says how far a transcript was read."""
        marks = [m for m in self.marks if m["mark"] == "source" and m.get("path") == path]
        return marks[-1] if marks else None


def _is_twin(stored: Message, message: Message) -> bool:
    if stored.role == "assistant":
        return _ends_with(stored.content, message.content)
    return is_same_text(stored.content, message.content)


def _ends_with(reply: str, content: str) -> bool:
    """A hook names the last block of a reply, a transcript has all of it; either has passed the door or not."""
    if is_same_text(reply, content) or is_same_text(content, reply):
        return True
    last = " ".join(reply.split())
    return bool(last) and " ".join(content.split()).endswith(last)
