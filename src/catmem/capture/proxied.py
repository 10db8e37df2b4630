"""What passes through the proxy, as turns of a session: what was said, the steps of the answer, each once.

A request of an assistant holds all of its present turn, and comes again with every step and every retry. So each
message gets a name that follows from the turn and its place in it: met again, it is known. Where a hook has the
prompt already, the turn is the hook's, and the transcript brings the rest.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catmem.capture.known import BY_PROXY, is_same_text
from catmem.capture.spool import spool
from catmem.clients.draft import TOOL_LIMIT
from catmem.clients.lines import cleaned, shortened
from catmem.clients.own_tools import RECALLED, is_own_tool
from catmem.domain.clock import stamp
from catmem.domain.errors import NotFound
from catmem.domain.hashing import short_hash
from catmem.domain.message import Message, Role, ToolCall
from catmem.domain.session import SessionRef
from catmem.sessions.door import admitted
from catmem.sessions.history import History
from catmem.sessions.pure import is_pure
from catmem.sessions.records import message_to_record

if TYPE_CHECKING:
    from catmem.sessions.door import Redact

# Turns whose owner is remembered, and sessions of which it is remembered what was written: what is asked about later
# is looked up again, and a session knows its messages.
_TURNS, _SESSIONS = 4096, 1024
# Where a talk of a program that names no session may go on: the newest ones are looked through.
_RECENT_SESSIONS = 20
# Seconds. A hook hears a prompt right before it is sent; a turn with many steps takes a while.
_JUST_NOW = 600.0


@dataclass(frozen=True, slots=True)
class Step:
    """One message of an answer: of the assistant with its calls, or of a tool."""

    role: Role
    text: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""
    usage: dict[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn as far as it has come. `name` is the same whenever it is met; `at` is when it was asked."""

    ref: SessionRef
    client: str
    cwd: str
    name: str
    said: str
    steps: tuple[Step, ...]
    at: str
    answered_at: str


class ProxiedTurns:
    """Turns into messages that the session does not have yet. `pure` tells that pure sessions are taken, too."""

    def __init__(self, history: History, *, pure: bool = False) -> None:
        self._history = history
        self._pure = pure
        self._owned: OrderedDict[tuple[SessionRef, str], bool] = OrderedDict()
        self._written: OrderedDict[SessionRef, set[str]] = OrderedDict()

    def news(self, turn: Turn) -> list[Message]:
        """The messages of a turn that were not handed out before; none if the turn belongs to another door."""
        if not self._is_ours(turn):
            return []
        written = self._written.setdefault(turn.ref, set())
        self._written.move_to_end(turn.ref)
        while len(self._written) > _SESSIONS:
            self._written.popitem(last=False)
        found = [message for message in _messages(turn) if message.uid not in written]
        written.update(message.uid for message in found)
        return found

    def lost(self, ref: SessionRef) -> None:
        """Forgets what was handed out: it could not be kept, and may come again."""
        self._written.pop(ref, None)

    def _is_ours(self, turn: Turn) -> bool:
        place = (turn.ref, turn.name)
        if place not in self._owned:
            passed_over = not self._pure and is_pure(str(self._history.root), turn.ref.key)
            self._owned[place] = not passed_over and not _has_by_other_door(self._history, turn)
            while len(self._owned) > _TURNS:
                self._owned.popitem(last=False)
        return self._owned[place]


def put_aside(
    root: str, ref: SessionRef, messages: Sequence[Message], *, cwd: str, client: str, redact: Redact
) -> None:
    """Keeps the messages of a session that others hold for the worker, which takes them in. Raises OSError."""
    records = [admitted(message_to_record(message.numbered(0, ref.key)), redact) for message in messages]
    listing = {"project": ref.project, "cwd": cwd, "client": client}
    spool(root, {"project": ref.project, "key": ref.key, "records": records, "listing": listing})


def find_talk(history: History, project: str, same: Callable[[Message], bool]) -> str:
    """The key of the session of this project that goes on where its last answer is `same`; "" if none does."""
    headers = [header for header in history.headers(project) if header.key.startswith(BY_PROXY)]
    headers.sort(key=lambda header: header.updated_at, reverse=True)
    for header in headers[:_RECENT_SESSIONS]:
        last = _last(history, header.ref, "assistant")
        if last is not None and same(last):
            return header.key
    return ""


def find_prompt(history: History, project: str, client: str, said: str) -> str:
    """The key of the session of a program in which a hook has just heard these words; "" if none has.

    For programs whose requests do not name their session.
    """
    recent = stamp(time.time() - _JUST_NOW)
    for header in history.headers(project):
        if header.metadata.get("client") != client or header.updated_at < recent or header.key.startswith(BY_PROXY):
            continue
        last = _last(history, header.ref, "user")
        if last is not None and is_same_text(last.content, said):
            return header.key
    return ""


def _has_by_other_door(history: History, turn: Turn) -> bool:
    """True if a hook has the prompt of this turn, as the last that was said."""
    last = _last(history, turn.ref, "user")
    return last is not None and not last.uid.startswith(BY_PROXY) and is_same_text(last.content, turn.said)


def _last(history: History, ref: SessionRef, role: Role) -> Message | None:
    found = None
    try:
        for record in history.walk(ref):
            if isinstance(record, Message) and record.role == role and record.content.strip():
                found = record
    except NotFound:
        return None
    return found


def _messages(turn: Turn) -> list[Message]:
    said = Message("user", cleaned(turn.said), turn.at, _uid(turn, "said"))
    names = {call.id: call.name for step in turn.steps for call in step.calls}
    return [said, *(_message(turn, place, step, names) for place, step in enumerate(turn.steps))]


def _message(turn: Turn, place: int, step: Step, names: dict[str, str]) -> Message:
    text = cleaned(step.text)
    if step.role == "tool":
        text = RECALLED if is_own_tool(names.get(step.call_id, "")) else shortened(text, TOOL_LIMIT)
    return Message(
        role=step.role,
        content=text,
        timestamp=turn.answered_at,
        uid=_uid(turn, f"{place} {step.role}"),
        tool_calls=tuple(_bounded(call) for call in step.calls),
        tool_call_id=step.call_id,
        usage=step.usage,
    )


def _bounded(call: ToolCall) -> ToolCall:
    return ToolCall(cleaned(call.id), cleaned(call.name), shortened(cleaned(call.arguments), TOOL_LIMIT))


def _uid(turn: Turn, place: str) -> str:
    return BY_PROXY + short_hash(f"{turn.ref.key}\n{turn.name}\n{place}", 12)
