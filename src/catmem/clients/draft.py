"""A session of a foreign tool while it is read: messages with a time and a name that stays the same at every import."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import tzinfo
from typing import Any

from catmem.clients import reasons
from catmem.clients.lines import cleaned, shortened
from catmem.clients.port import Position, Problem, TranscriptChunk
from catmem.clients.reasons import Reason
from catmem.domain.clock import parse_instant
from catmem.domain.helper import is_helper_prompt
from catmem.domain.message import Message, Role, ToolCall

Record = Mapping[str, Any]

# What a tool printed is kept up to here: the file, the log, the page can be looked up where it came from.
TOOL_LIMIT = 64 << 10


class Draft:
    """Collects the messages of one session.

    key       the session's
    fallback  the time for what names none before any message did: the session's start, or the file's own
    zone      of times that name none, where the format fixes it; otherwise they are local, and flagged
    """

    def __init__(self, file: str, key: str, fallback: str, *, zone: tzinfo | None = None) -> None:
        self.file, self.key = file, cleaned(key)
        self.cwd = self.project = self.title = self.leaf = self.original = ""
        self.problems: list[Problem] = []
        self._time = fallback
        self._zone = zone
        self._messages: list[Message] = []
        self._repeats: Counter[str] = Counter()
        self._flags: dict[Reason, tuple[int, int]] = {}
        self._records = 0
        self._begun = False
        self._helper: bool | None = None

    def begin(self, key: str, began: str = "") -> None:
        """Tells the key, and the time of the start, where they stand inside the file."""
        self.key, self._time = cleaned(key), began or self._time

    def say(
        self,
        role: Role,
        content: str,
        at: object = None,
        *,
        uid: str = "",
        line: int = 0,
        parent: str = "",
        kind: str = "",
        calls: Iterable[ToolCall] = (),
        call_id: str = "",
        usage: Mapping[str, int] | None = None,
        dated: bool = True,
    ) -> str:
        """Adds a message, unless there is nothing in it. Returns its uid, "" if none was added.

        at     the time as written; `dated` False: the format has no times, so that a missing one is no fault
        uid    its own id; without one it is named by what it says, and by which of equal ones it is
        """
        text, made = cleaned(content), tuple(calls)
        if not text.strip() and not made:
            return ""
        if role in ("tool", "system"):
            text = shortened(text, TOOL_LIMIT)
        if self._helper is None and role == "user":
            self._helper = is_helper_prompt(text)
        uid = cleaned(uid) or self._name(role, text, made, call_id)
        self._messages.append(
            Message(
                role,
                text,
                self._instant(at, line, dated),
                uid,
                parent=cleaned(parent),
                kind=kind,
                tool_calls=made,
                tool_call_id=cleaned(call_id) or ("unknown" if role == "tool" else ""),
                usage=usage or None,
            )
        )
        return uid

    def read(self, records: int = 1) -> None:
        """Tells of records of the source that could be read, whether or not there was a message in them."""
        self._records += records

    def fault(self, reason: Reason, line: int = 0) -> None:
        self.problems.append(Problem(self.file, line, *reason))

    def flag(self, reason: Reason, line: int = 0) -> None:
        """A doubt that many messages share: told once, with their number."""
        first, count = self._flags.get(reason, (line, 0))
        self._flags[reason] = (first, count + 1)

    @property
    def has_messages(self) -> bool:
        return bool(self._messages)

    def chunk(self, end: int = 0, number: int = 0, *, at_end: bool = True) -> TranscriptChunk:
        """What was collected since the last time. `end` is the offset behind it, `number` the lines before that."""
        if at_end:
            for reason, (line, count) in self._flags.items():
                self.problems.append(Problem(self.file, line, *reasons.counted(reason, count)))
            self._flags = {}
        chunk = TranscriptChunk(
            session=self.key,
            messages=tuple(self._messages),
            marks=({"mark": "leaf", "uid": self.leaf},) if self.leaf else (),
            position=Position(end, number),
            problems=tuple(self.problems),
            cwd=cleaned(self.cwd),
            project=self.project,
            title=cleaned(self.title),
            records=self._records,
            helper=not self._begun and bool(self._helper),
            original=self.original,
            first=not self._begun,
            at_end=at_end,
        )
        self._messages, self.problems, self._records, self._begun = [], [], 0, True
        return chunk

    def _instant(self, at: object, line: int, dated: bool) -> str:
        instant = parse_instant(at, self._zone)
        if instant is None:
            if dated:
                self.flag(reasons.NO_TIME, line)
            return self._time
        if not instant[1] and self._zone is None:
            self.flag(reasons.NO_ZONE, line)
        self._time = instant[0]
        return instant[0]

    def _name(self, role: str, text: str, calls: tuple[ToolCall, ...], call_id: str) -> str:
        """Without the time: where a format has none, it is the file's, which changes with each message."""
        called = "".join(f"\n{call.id} {call.name} {call.arguments}" for call in calls)
        told = f"{self.key}\n{role}\n{call_id}\n{text}{called}".encode("utf-8", "replace")
        digest = hashlib.blake2b(told, digest_size=12).hexdigest()
        self._repeats[digest] += 1
        repeat = self._repeats[digest] - 1
        return f"said:{digest}:{repeat}" if repeat else f"said:{digest}"


def text_of(value: object) -> str:
    """A field that should be text, "" if it is not."""
    return value if isinstance(value, str) else ""


def record_of(value: object) -> Record:
    """A field that should be a record, an empty one if it is not."""
    return value if isinstance(value, dict) else {}


def records_in(value: object) -> list[Record]:
    """The records in a field that should be a list of them."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def tool_call(call_id: object, name: object, arguments: object) -> ToolCall:
    """A call with its arguments as JSON of at most TOOL_LIMIT bytes."""
    spelled = (
        arguments
        if isinstance(arguments, str)
        else json.dumps(arguments if arguments is not None else {}, ensure_ascii=False)
    )
    text = cleaned(spelled)
    if len(text.encode("utf-8", "replace")) > TOOL_LIMIT:
        text = json.dumps({"left_out": shortened(text, TOOL_LIMIT // 2)}, ensure_ascii=False)
    return ToolCall(cleaned(text_of(call_id)), cleaned(text_of(name)), text)


def usage_of(value: object, names: Mapping[str, str]) -> dict[str, int] | None:
    """Token counts by our names (the values of `names`)."""
    found = record_of(value)
    counted = {ours: found[theirs] for theirs, ours in names.items() if type(found.get(theirs)) is int}
    return counted or None
