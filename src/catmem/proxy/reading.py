"""Understanding a request before it goes out: whose it is, what is said in it, and what it should be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from catmem.capture.hook import home_of
from catmem.capture.known import is_same_text
from catmem.capture.proxied import Step, find_prompt, find_talk
from catmem.domain.clock import now
from catmem.domain.hashing import short_hash
from catmem.domain.session import SessionRef
from catmem.inject.request import frozen_brief, is_told
from catmem.proxy import splice
from catmem.proxy.callers import UNKNOWN, Caller, caller_of, folder_of, is_side, session_of
from catmem.proxy.coding import Unreadable, coded, plain
from catmem.proxy.conversations import Conversations, Opening, names_of
from catmem.proxy.exchange import WIRES, Exchange, Talk
from catmem.proxy.http1 import Head
from catmem.proxy.routes import Route
from catmem.proxy.upstream import Listener
from catmem.proxy.wires.port import Asked, Spoken
from catmem.sessions.history import History
from catmem.sessions.names import safe_key
from catmem.sessions.pure import is_pure, set_pure
from catmem.settings.places import Places


@dataclass(frozen=True, slots=True)
class Understood:
    """`body` is what goes out: the very object that came in, unless a brief was put into it."""

    body: bytes
    listener: Listener | None = None
    session: SessionRef | None = None


@dataclass(frozen=True, slots=True)
class Manner:
    """How a proxy treats what passes.

    inject    whether requests get a brief
    hold      whether what is said in pure mode is gathered all the same, for the user to decide at the end
    project   where a request belongs that says nothing of it
    """

    inject: bool = True
    hold: bool = False
    project: str = ""


class Reader:
    """Called in threads. Whatever it raises, the request goes out as it came.

    settings     the settings by name, those that differ from the defaults
    project_of   the key of the project of a folder
    listen       waits until every answer that has ended was heard; called before a talk is taken for a new one
    settle       waits until what was said a moment ago is in memory; called before a session gets its brief
    """

    def __init__(
        self,
        places: Places,
        history: History,
        manner: Manner,
        *,
        settings: Callable[[], Mapping[str, Any]],
        project_of: Callable[[str], str],
        finished: Callable[[Exchange], None],
        listen: Callable[[], None] = lambda: None,
        settle: Callable[[], None] = lambda: None,
    ) -> None:
        self._places = places
        self._history = history
        self._manner = manner
        self._settings = settings
        self._project_of = project_of
        self._finished = finished
        self._settle = settle
        self.conversations = Conversations(self._on_disk, listen)

    def read(self, route: Route, head: Head, body: bytes) -> Understood:
        """Raises ValueError and its kind for what cannot be understood, CatmemError and OSError for a fault of ours."""
        if route.pure and not self._manner.hold:
            self._mark_pure(head)
            return Understood(body)
        coding = head.value(b"content-encoding")
        try:
            text = plain(body, coding).decode("utf-8")
        except Unreadable:
            return Understood(body)
        wire = WIRES[route.wire]
        asked: Asked = wire.read({name: span.value for name, span in splice.members(text).items()})
        caller = caller_of(head, asked)
        if is_side(caller, head, asked):
            return Understood(body)
        talk = self._talk(route, head, caller, asked)
        if talk is None:
            return Understood(body)
        if not route.pure and is_pure(self._places.root, talk.ref.key):
            return Understood(body)
        brief = "" if route.pure or not self._manner.inject else self._brief(talk)
        listener = Exchange(route.wire, talk, self._finished) if talk.said else None
        if not brief:
            return Understood(body, listener, talk.ref)
        try:
            body = coded(wire.insert(text, brief).encode("utf-8"), coding)
        except (ValueError, IndexError):
            # Of a form that nobody has seen yet; it is recorded all the same.
            return Understood(body, listener, talk.ref)
        return Understood(body, listener, talk.ref)

    def _talk(self, route: Route, head: Head, caller: Caller, asked: Asked) -> Talk | None:
        """What a request tells of its session; None without a session and without a word of the user's."""
        place = _newest(asked, caller)
        said = caller.typed(asked.spoken[place].texts) if place >= 0 else ""
        cwd = folder_of(asked)
        project = route.project or (self._project_of(cwd) if cwd else "") or self._manner.project
        steps = _steps(asked.spoken[place + 1 :]) if place >= 0 else ()
        before = _before(asked, caller, place)
        key, opening = session_of(caller, head, asked), None
        if not key and caller.client != UNKNOWN and said.strip():
            key = find_prompt(self._history, project, caller.client, said)
        if not key:
            if not said.strip():
                return None
            calls = names_of([call for step in steps for call in step.calls])
            whole = short_hash(f"{project}\n{asked!r}", 16)
            opening = Opening(project, caller.client, said, before, calls, asked.previous, whole)
            key = self.conversations.key_of(opening)
        ref = SessionRef(home_of(self._places.root, project, safe_key(key)), safe_key(key))
        count = sum(spoken.role == "user" for spoken in asked.spoken[: place + 1])
        name = short_hash("\n".join((str(count), asked.previous, *before, said)), 12)
        return Talk(ref, caller.client, cwd, name, said if said.strip() else "", steps, now(), opening)

    def _brief(self, talk: Talk) -> str:
        if not is_told(self._places, talk.ref.key):
            self._settle()
        return frozen_brief(self._places, talk.ref.key, talk.ref.project, self._settings(), prompt=talk.said)

    def _mark_pure(self, head: Head) -> None:
        """What its assistant writes down of a pure session, no import takes in later."""
        caller = caller_of(head)
        key = session_of(caller, head)
        if key and caller.client != UNKNOWN:
            set_pure(self._places.root, key, client=caller.client, at=now())

    def _on_disk(self, project: str, answer: str) -> str:
        return find_talk(self._history, project, lambda last: is_same_text(last.content, answer))


def _newest(asked: Asked, caller: Caller) -> int:
    """The place of the newest message that has words of the user's, -1 if none has."""
    for place in range(len(asked.spoken) - 1, -1, -1):
        spoken = asked.spoken[place]
        if spoken.role == "user" and caller.typed(spoken.texts).strip():
            return place
    return -1


def _before(asked: Asked, caller: Caller, place: int) -> tuple[str, str]:
    """The user's words before the newest, and what was answered to them."""
    answer = ""
    for spoken in reversed(asked.spoken[: max(0, place)]):
        if spoken.role == "assistant":
            answer = answer or spoken.text
        elif spoken.role == "user" and (words := caller.typed(spoken.texts)).strip():
            return words, answer
    return "", answer


def _steps(spoken: tuple[Spoken, ...]) -> tuple[Step, ...]:
    """The answer so far. What some APIs part, words and calls of one reply, is one step."""
    steps: list[Step] = []
    for part in spoken:
        if part.role == "user":
            continue
        if part.role == "assistant" and steps and steps[-1].role == "assistant":
            last = steps[-1]
            words = "\n".join(text for text in (last.text, part.text) if text.strip())
            steps[-1] = Step("assistant", words, last.calls + part.calls)
        elif part.role == "tool" or part.text.strip() or part.calls:
            steps.append(Step(part.role, part.text, part.calls, part.call_id))
    return tuple(steps)
