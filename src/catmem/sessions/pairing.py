"""Tool calls and their results: which belong together, which are alone, and where a session may be cut.

Ids of calls are the assistants' own: some repeat them from turn to turn, some give none. So a result answers the newest
call before it that has its id and no result yet; one without an id, the oldest such call of the turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catmem.sessions.records import message_record

INTERRUPTED = "interrupted"
"""The kind of a result that nobody gave: the assistant was stopped between the call and its end."""
_INTERRUPTED_TEXT = "[interrupted: no result was recorded]"

Call = tuple[int, int]
"""The place of a message, and the number of a call in it."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Places are positions in a sequence of messages.

    answered  place of each result -> its call
    open      calls without a result, in order
    orphans   places of results that answer nothing
    """

    answered: Mapping[int, Call]
    open: tuple[Call, ...]
    orphans: tuple[int, ...]


def pair(messages: Sequence[Mapping[str, Any]]) -> Pairing:
    """The pairs among some messages, in the order of the file."""
    names = {f"{INTERRUPTED}:{message['id']}:": place for place, message in enumerate(messages) if calls_of(message)}
    waiting: dict[str, list[Call]] = {}
    nameless: list[Call] = []  # calls without an id that no result can answer any more but one of ours
    answered: dict[int, Call] = {}
    orphans = []
    for place, message in enumerate(messages):
        for number, call in enumerate(calls_of(message)):
            waiting.setdefault(_id(call, "id"), []).append((place, number))
        if message["role"] == "user":
            nameless += waiting.pop("", [])
        if message["role"] != "tool":
            continue
        id = _id(message, "toolCallId")
        calls = waiting.get(id, [])
        if message.get("kind") == INTERRUPTED:
            found = _named(message, names)
            calls = next((each for each in (calls, nameless) if found in each), [])
        else:
            found = calls[-1 if id else 0] if calls else None
        if found is None or not calls:
            orphans.append(place)
        else:
            calls.remove(found)
            answered[place] = found
    left = sorted([*nameless, *(call for calls in waiting.values() for call in calls)])
    return Pairing(answered, tuple(left), tuple(orphans))


def cuts(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places before which the messages may be cut: a turn begins there, and no pair lies across.

    A result that nobody gave stands wherever it was found missing; it goes with its call and bars no cut.
    """
    ends: dict[int, int] = {}
    for result, (call, _) in pair(messages).answered.items():
        if messages[result].get("kind") != INTERRUPTED:
            ends[call] = max(ends.get(call, 0), result)
    found, reach = [], 0
    spoken = False
    for place, message in enumerate(messages):
        if spoken and message["role"] == "user" and reach < place:
            found.append(place)
        spoken = spoken or message["role"] == "user"
        reach = max(reach, ends.get(place, 0))
    return found


def interrupted(messages: Sequence[Mapping[str, Any]], before: int, key: str, now: str) -> list[dict[str, Any]]:
    """The results that the calls before a place lack, to be appended. Asked again, they have the same uids."""
    return [_result(messages[place], number, key, now) for place, number in pair(messages).open if place < before]


def calls_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("toolCalls")
    return [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []


def _result(message: Mapping[str, Any], number: int, key: str, now: str) -> dict[str, Any]:
    return message_record(
        "tool",
        _INTERRUPTED_TEXT,
        message.get("timestamp") or now,
        key=key,
        uid=f"{INTERRUPTED}:{message['id']}:{number}",
        kind=INTERRUPTED,
        tool_call_id=_id(calls_of(message)[number], "id"),
    )


def _named(result: Mapping[str, Any], names: Mapping[str, int]) -> Call | None:
    head, _, number = str(result.get("uid", "")).rpartition(":")
    place = names.get(f"{head}:")
    return (place, int(number)) if place is not None and number.isdecimal() else None


def _id(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""
