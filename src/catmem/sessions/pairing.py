"""Tool calls and their results: which belong together, which are alone, and where a session may be cut.

Ids of calls are the assistants' own: some repeat them from turn to turn, some give none. So a result answers the newest
call before it that has its id and no result yet; one without an id, the oldest such call of the turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catmem.sessions.records import INTERRUPTED, is_interruption, message_record

_INTERRUPTED_TEXT = "[interrupted: no result was recorded]"

Call = tuple[int, int]
"""The place of a message, and the number of a call in it."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """Places are positions in a sequence of messages.

    answered  place of each result -> its call; every call has one at most
    open      calls without a result, in order
    late      place of each of our results -> a call whose true result came after all
    orphans   places of results that answer nothing
    """

    answered: Mapping[int, Call]
    open: tuple[Call, ...]
    late: Mapping[int, Call]
    orphans: tuple[int, ...]


def pair(messages: Sequence[Mapping[str, Any]]) -> Pairing:
    """The pairs among some messages, in the order of the file. A result that was given wins over one of ours."""
    answered, orphans = _answers(messages)
    calls = [(place, number) for place, message in enumerate(messages) for number, _ in enumerate(calls_of(message))]
    left = dict.fromkeys(calls)
    for call in answered.values():
        del left[call]
    late: dict[int, Call] = {}
    ours = [place for place, message in enumerate(messages) if is_interruption(message)]
    named = {_name(messages[place], number): (place, number) for place, number in calls} if ours else {}
    for result in ours:
        found = named.get(str(messages[result].get("uid", "")))
        if found is None or found[0] > result:
            orphans.append(result)
        elif found in left:
            del left[found]
            answered[result] = found
        else:
            late[result] = found
    return Pairing(answered, tuple(left), late, tuple(sorted(orphans)))


def _answers(messages: Sequence[Mapping[str, Any]]) -> tuple[dict[int, Call], list[int]]:
    """The results that somebody gave, each with its call, and those without one."""
    waiting: dict[str, list[Call]] = {}
    answered: dict[int, Call] = {}
    orphans = []
    for place, message in enumerate(messages):
        for number, call in enumerate(calls_of(message)):
            waiting.setdefault(_id(call, "id"), []).append((place, number))
        if message["role"] == "user":
            waiting.pop("", None)  # no result without an id can answer them any more
        if message["role"] != "tool" or is_interruption(message):
            continue
        id = _id(message, "toolCallId")
        calls = waiting.get(id)
        if calls:
            answered[place] = calls.pop(-1 if id else 0)
        else:
            orphans.append(place)
    return answered, orphans


def cuts(messages: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places before which the messages may be cut: a turn begins there, and no pair lies across.

    A result that nobody gave stands wherever it was found missing; it goes with its call and bars no cut.
    """
    ends: dict[int, int] = {}
    for result, (call, _) in pair(messages).answered.items():
        if not is_interruption(messages[result]):
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
        uid=_name(message, number),
        # So that it is on the branch of its call, and on no other.
        parent=str(message.get("uid", "")),
        kind=INTERRUPTED,
        tool_call_id=_id(calls_of(message)[number], "id"),
    )


def _name(message: Mapping[str, Any], number: int) -> str:
    """The uid of our result of a call. It goes by the message's uid, since its id may be another on another device."""
    return f"{INTERRUPTED}:{message.get('uid') or '#' + str(message['id'])}:{number}"


def _id(value: Mapping[str, Any], name: str) -> str:
    found = value.get(name)
    return found if isinstance(found, str) else ""
