"""Calls whose result will not come any more: when that is so, and writing it down, once (see pairing.py).

A host that was killed between a call and its results leaves the call open for ever. Every reader after that, and any
model that the talk is sent to, may count on one result a call; so one is appended that says that there was none. If the
true one comes after all, from a transcript that was read late, it wins, and ours is in no reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from catmem.domain.clock import seconds_of
from catmem.sessions.names import Place
from catmem.sessions.outline import outline
from catmem.sessions.pairing import interrupted, pair
from catmem.sessions.records import is_message
from catmem.sessions.repair import Finding
from catmem.sessions.survey import survey
from catmem.sessions.trim import give_results, open_for_compaction

# A turn that has not moved for so long is over: the assistant was killed. A tool that runs for a day is rarer.
TURN_HOURS = 24
# The calls of earlier turns are over when the user speaks again; but parallel results and what a hook captured of them
# may be read a little later than the prompt.
REST_MINUTES = 15


def settle(place: Place, now: str) -> tuple[int, int]:
    """Gives the calls of a session that are over a result: how many, and how many may still get one.

    Raises LockBusy at once if somebody writes, StorageFailed.
    """
    with open_for_compaction(place) as session:
        messages = outline(session).messages
        given = interrupted(messages, _over(messages, session.header, now), session.key, now)
        give_results(session, given)
        return len(given), len(pair(messages).open) - len(given)


def check(place: Place, now: str) -> list[Finding]:
    """The calls that `settle` would give a result."""
    parsed = survey(place)
    messages = [record for record in parsed.records if is_message(record)]
    over = _over(messages, parsed.header, now)
    ids = [messages[call]["id"] for call, _ in pair(messages).open if call < over]
    return [Finding(place.file, "call-open", "no result will come", first_id=ids[0], last_id=ids[-1])] if ids else []


def idle_minutes(updated_at: str, moment: float) -> float:
    """For how long nothing was said. Sessions without times are imports: every program that is alive gives some."""
    try:
        return (moment - seconds_of(updated_at)) / 60
    except ValueError:
        return moment / 60


def _over(messages: Sequence[Mapping[str, Any]], header: Mapping[str, Any], now: str) -> int:
    """The place before which all calls are over."""
    idle = idle_minutes(header["updated_at"], seconds_of(now))
    if header["metadata"].get("ended") or idle >= TURN_HOURS * 60:
        return len(messages)
    if idle < REST_MINUTES:
        return 0
    return max((place for place, message in enumerate(messages) if message["role"] == "user"), default=0)
