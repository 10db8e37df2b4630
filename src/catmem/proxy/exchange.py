"""A request that was understood, with its answer while it passes: what the recorder needs of both."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from catmem.capture.proxied import Step, Turn
from catmem.domain.session import SessionRef
from catmem.llm.events import event_data
from catmem.proxy.coding import Unreadable, plain
from catmem.proxy.conversations import Opening
from catmem.proxy.http1 import Headers
from catmem.proxy.wires import anthropic, chat, gemini, responses
from catmem.proxy.wires.port import Answer, Reply

WIRES: dict[str, ModuleType] = {"anthropic": anthropic, "chat": chat, "responses": responses, "gemini": gemini}

# What is kept of an answer while it passes. The longest answers of today's models have some MB as a stream.
_LONGEST_ANSWER = 64 << 20


@dataclass(frozen=True, slots=True)
class Talk:
    """What the request tells: its session, its newest turn so far, and how its talk is known again."""

    ref: SessionRef
    client: str
    cwd: str
    name: str
    said: str
    steps: tuple[Step, ...]
    at: str
    opening: Opening | None = None

    def turn(self, answer: Answer, answered_at: str) -> Turn:
        last = Step("assistant", answer.text, tuple(answer.calls), usage=answer.usage or None)
        steps = self.steps if not (last.text.strip() or last.calls) else (*self.steps, last)
        return Turn(self.ref, self.client, self.cwd, self.name, self.said, _paired(steps), self.at, answered_at)


def _paired(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """The steps with an id of its own for each call, where calls are known by their names only; results in order."""
    found: list[Step] = []
    waiting: list[tuple[str, str]] = []
    count = 0
    for step in steps:
        if step.role == "tool":
            place = next((n for n, (name, _) in enumerate(waiting) if name == step.call_id), None)
            found.append(step if place is None else replace(step, call_id=waiting.pop(place)[1]))
            continue
        calls = []
        for call in step.calls:
            count += 1
            own = call.id if call.id != call.name else f"{call.name}-{count}"
            waiting += [(call.id, own)]
            calls.append(replace(call, id=own))
        found.append(replace(step, calls=tuple(calls)))
    return tuple(found)


@dataclass(slots=True)
class Exchange:
    """`finished` is called once, when the answer has ended, however it did; `succeeded` says how."""

    wire: str
    talk: Talk
    finished: Callable[[Exchange], None]
    succeeded: bool = False
    answered_at: str = ""
    size: int = 0
    _coding: str = ""
    _kind: str = ""
    _status: int = 0
    _pieces: list[bytes] = field(default_factory=list)
    _over: bool = False

    # The listener of the upstream's side: called on the way of the bytes, so it does next to nothing.

    def heard(self, status: int, headers: Headers) -> None:
        self._status = status
        told = dict(headers)
        self._coding = told.get(b"content-encoding", b"").decode("latin-1")
        self._kind = told.get(b"content-type", b"").decode("latin-1").lower()

    def take(self, piece: bytes) -> None:
        if self._status // 100 == 2 and self.size <= _LONGEST_ANSWER:
            self._pieces.append(piece)
            self.size += len(piece)

    def end(self, complete: bool) -> None:
        if not self._over:
            self._over = True
            # A stream says itself where it ends, and many programs leave there, before the framing ends, too.
            ended = complete or "event-stream" in self._kind
            self.succeeded = ended and self._status // 100 == 2 and self.size <= _LONGEST_ANSWER
            self.finished(self)

    def answer(self) -> Answer:
        """What the model said; not complete if that cannot be read, or has no end."""
        try:
            body = plain(b"".join(self._pieces), self._coding)
        except Unreadable:
            return Answer()
        reply: Reply = WIRES[self.wire].Reply()
        if "event-stream" in self._kind or body[:6] in (b"event:", b"data: "):
            for event in _events(body):
                reply.event(event)
        else:
            for whole in _wholes(body):
                reply.whole(whole)
        return reply.answer


def _events(body: bytes) -> Iterator[Mapping[str, Any]]:
    for data in event_data(iter((body,))):
        event = _parsed(data)
        if isinstance(event, dict):
            yield event


def _wholes(body: bytes) -> Iterator[Mapping[str, Any]]:
    """One object, or, from Gemini without `alt=sse`, a list of them."""
    value = _parsed(body)
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict):
            yield item


def _parsed(data: str | bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None
