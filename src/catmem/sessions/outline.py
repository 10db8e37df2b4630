"""A session without its words: what tells turns, calls and results apart, of as many messages as there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catmem.sessions.open_session import OpenSession
from catmem.sessions.pairing import calls_of
from catmem.sessions.records import is_interruption, is_message


@dataclass(frozen=True, slots=True)
class Outline:
    """The messages as pairing.py asks for them, and the marks whole; both in the order of the file."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)


def outline(session: OpenSession) -> Outline:
    """What a session consists of, read from its file once."""
    found = Outline()
    for _, record in session.own_lines():
        if is_message(record):
            found.messages.append(without_words(record))
        else:
            found.marks.append(record)
    return found


def without_words(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message as pairing.py asks for it."""
    light = {"id": message["id"], "role": message["role"]}
    for name in ("kind", "toolCallId"):
        if message.get(name):
            light[name] = message[name]
    calls = calls_of(message)
    if calls:
        light["toolCalls"] = [{"id": call.get("id")} for call in calls]
    if calls or is_interruption(message):
        light.update({name: message[name] for name in ("uid", "timestamp") if name in message})
    return light
