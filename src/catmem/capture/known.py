"""What a session holds already, as far as taking more of it in depends on it: facts, not the words themselves."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from catmem.domain.errors import NotFound
from catmem.domain.hashing import short_hash
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.sessions.history import History
from catmem.sessions.uids import Uids
from catmem.text.encoding import clean
from catmem.text.private import strip_injected, strip_private

BY_HOOK = "hook:"
"""Begins the uid of what a hook captured before the transcript had it."""
BY_PROXY = "proxy:"
"""Begins the uid of what passed through the proxy before the transcript had it, if there is one."""
TYPED_AHEAD = "queued:"
"""Begins the uid of words that were queued and have no line of their own."""

_PROVISIONAL = (BY_HOOK, BY_PROXY, TYPED_AHEAD)

# What was typed ahead is said again within a few turns; this many of the user's words are looked through for it.
_WORDS = 10_000
# A hook names the reply that was just given: it is one of the last messages of its turn, if it is there.
_REPLIES = 32

_SECRET = re.compile(r"\[secret:[^\]]*\]")


def prompt_uid(prompt_id: str) -> str:
    return f"{BY_HOOK}{prompt_id}"


def is_same_text(stored: str, raw: str) -> bool:
    """True if `stored` is what the door lets through of `raw`: private parts gone, secrets replaced, blanks aside."""
    said = " ".join(_as_admitted(raw).split())
    kept = " ".join(stored.split())
    if said == kept:
        return True
    if "[secret:" not in kept:
        return False
    pattern = ".+?".join(re.escape(part) for part in _SECRET.split(kept))
    return re.fullmatch(pattern, said, re.DOTALL) is not None


def _as_admitted(raw: str) -> str:
    return strip_injected(strip_private(clean(raw)))


class Known:
    """What one session has: uids, unmatched provisional messages, what its marks say; nothing if there is none yet."""

    def __init__(self, history: History, ref: SessionRef) -> None:
        self.ref = ref
        self.exists = False
        self.uids = Uids()
        self.began = ""
        """The time of the first message."""
        self.inherited = Uids()
        self._history = history
        self._provisional: dict[str, Message] = {}
        # What a hook captured has, in the file, the name that the hook gave; everywhere else that of the transcript.
        self._file_names: dict[str, str] = {}
        self._own_names: dict[str, tuple[str, str]] = {}  # and the parents
        self._last_marks: dict[str, Mapping[str, Any]] = {}
        self._sources: dict[str, Mapping[str, Any]] = {}
        self._continued: set[str] = set()
        self._words: dict[str, str] = {}  # the hash of what the user said -> when it was said last
        self._veiled: deque[Message] = deque(maxlen=_WORDS)  # of the same, what had secrets
        self._replies: deque[str] = deque(maxlen=_REPLIES)  # since the user's last words
        self._last_said = ""
        try:
            for record in history.walk(ref):
                if isinstance(record, Message):
                    self.add(record)
                else:
                    self._heed(record)
            self.exists = True
        except NotFound:
            return
        self.inherited.update([own for own, uid in self._file_names.items() if uid in self.inherited])

    @property
    def messages(self) -> Iterator[Message]:
        """The messages of the session under their own names, read anew each time: they may be more than fits."""
        try:
            for record in self._history.walk(self.ref):
                if isinstance(record, Message):
                    names = self._own_names.get(record.uid)
                    yield replace(record, uid=names[0], parent=names[1]) if names else record
        except NotFound:
            return

    def file_name(self, uid: str) -> str:
        """The uid that a message has in the session file."""
        return self._file_names.get(uid, uid)

    def says(self, mark: Mapping[str, Any]) -> bool:
        """True if the last mark of this name says the same."""
        last = self._last_marks.get(mark["mark"])
        return last is not None and all(last.get(name) == value for name, value in mark.items())

    def continues(self, key: str) -> bool:
        """True if a mark says that the session goes on where that one was."""
        return key in self._continued

    def add(self, message: Message) -> None:
        self.exists = True
        if message.uid:
            self.uids.add(message.uid)
        self.began = min(self.began or message.timestamp, message.timestamp)
        if message.uid.startswith(_PROVISIONAL):
            # What a tool printed may be long, and is known by its call.
            self._provisional[message.uid] = replace(message, content="") if message.tool_call_id else message
        if message.role == "user":
            self._last_said = message.uid
            self._replies.clear()
            if "[secret:" in message.content:
                self._veiled.append(message)
            else:
                _keep_newest(self._words, _words_of(message.content), message.timestamp)
        elif message.role == "assistant":
            self._replies.append(message.content)

    def add_marks(self, marks: Iterable[Mapping[str, Any]]) -> None:
        for mark in marks:
            self._last_marks[mark["mark"]] = mark
            if mark["mark"] == "source":
                self._sources[str(mark.get("path"))] = mark

    def _heed(self, mark: Mapping[str, Any]) -> None:
        """What a mark of the file tells of its messages."""
        self.add_marks((mark,))
        if mark["mark"] == "known_as":
            uid, own = str(mark.get("uid", "")), str(mark.get("as", ""))
            self.uids.update((uid, own) if "as" in mark else (uid,))
            self._provisional.pop(uid, None)
            if "as" in mark:
                self._file_names[own], self._own_names[uid] = uid, (own, str(mark.get("parent", "")))
        elif mark["mark"] == "inherited":
            self.inherited.update(str(uid) for uid in mark.get("uids", ()))
        elif mark["mark"] == "continues":
            self._continued.add(str(mark.get("key")))

    def twins(self, message: Message, prompt_id: str) -> list[Message]:
        """What was stored provisionally of a message that now comes with its own uid: one of each kind at most."""
        twins = []
        for prefix in _PROVISIONAL:
            ours = [m for m in self._provisional.values() if m.uid.startswith(prefix) and m.role == message.role]
            named = [m for m in ours if prompt_id and m.uid == prompt_uid(prompt_id)]
            twin = next(iter(named), None) or next((m for m in ours if _is_twin(m, message)), None)
            if twin:
                twins.append(twin)
                del self._provisional[twin.uid]
        if twins:
            self.uids.add(message.uid)
        return twins

    def was_said_after(self, ahead: Message) -> bool:
        """True if words typed ahead were met already with a line of their own."""
        # "" is no time, and earlier than any.
        if self._words.get(_words_of(_as_admitted(ahead.content)), "") >= (ahead.timestamp or "0"):
            return True
        return any(m.timestamp >= ahead.timestamp and is_same_text(m.content, ahead.content) for m in self._veiled)

    def has_answer(self, reply: str) -> bool:
        """True if the assistant said this since the last word of the user."""
        return any(_ends_with(reply, said) for said in self._replies)

    def last_said(self) -> str:
        """The uid of the user's last message, "" if there is none."""
        return self._own_names.get(self._last_said, (self._last_said, ""))[0]

    def source(self, path: str) -> Mapping[str, Any] | None:
        """The mark that says how far a transcript was read."""
        return self._sources.get(path)


def _words_of(text: str) -> str:
    """A short name of a text, blanks aside."""
    return short_hash(" ".join(text.split()), 12)


def _keep_newest(times: dict[str, str], name: str, time: str) -> None:
    times[name] = max(times.pop(name, ""), time)
    if len(times) > _WORDS:
        del times[next(iter(times))]


def _is_twin(stored: Message, message: Message) -> bool:
    if stored.tool_call_id:
        return stored.tool_call_id == message.tool_call_id
    if stored.tool_calls and message.tool_calls:
        return bool({call.id for call in stored.tool_calls} & {call.id for call in message.tool_calls})
    if stored.role == "assistant":
        return _ends_with(stored.content, message.content)
    return is_same_text(stored.content, message.content)


def _ends_with(reply: str, content: str) -> bool:
    """A hook names the last block of a reply, a transcript has all of it; either has passed the door or not."""
    if is_same_text(reply, content) or is_same_text(content, reply):
        return True
    last = " ".join(reply.split())
    return bool(last) and " ".join(content.split()).endswith(last)
