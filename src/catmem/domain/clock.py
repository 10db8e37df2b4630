"""Time: instants are ISO 8601 strings in UTC with milliseconds and a Z, so that they sort as text."""

from __future__ import annotations

import time
from collections.abc import Callable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime, tzinfo

Clock = Callable[[], float]
"""Seconds since the epoch; injected wherever time matters, so that tests can turn it."""

system_clock: Clock = time.time


def stamp(seconds: float) -> str:
    """`1767583930.285` -> `2026-01-05T03:32:10.285Z`.

    Rounded to the millisecond in integers: float formatting would drift by one.
    """
    milliseconds = round(seconds * 1000)
    whole, part = divmod(milliseconds, 1000)
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole)) + f".{part:03d}Z"


def now(clock: Clock = system_clock) -> str:
    return stamp(clock())


def seconds_of(instant: str) -> float:
    """The epoch seconds of a stamp that we wrote. Raises ValueError on anything else."""
    return _moment(instant).timestamp()


def parse_instant(value: object, naive_zone: tzinfo | None = None) -> tuple[str, bool] | None:
    """Reads a foreign time: ISO text with or without zone, epoch seconds or milliseconds.

    Returns `(stamp, certain)`; `certain` is False where the text named no zone, in which case
    `naive_zone` (the machine's own zone by default) is assumed. None if it is not a time at all:
    a missing time must never become 1970.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _from_number(value)
    if not isinstance(value, str) or not value.strip():
        return None
    text = value.strip()
    try:
        found = _from_number(float(text))
    except ValueError:
        found = None
    return found or _from_text(text, naive_zone)


def _from_text(text: str, naive_zone: tzinfo | None) -> tuple[str, bool] | None:
    try:
        moment = _moment(text.replace("z", "Z"))
        certain = moment.tzinfo is not None
        if not certain:
            moment = moment.replace(tzinfo=naive_zone) if naive_zone else moment.astimezone()
        seconds = moment.timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return (stamp(seconds), certain) if _OLDEST_SECONDS <= seconds < _NEWEST_SECONDS else None


# An epoch value above this is milliseconds: as seconds it would be the year 5138.
_MILLISECONDS_FROM = 1e11
# Nothing in the field is older than this (2000-01-01): smaller numbers are counters, earlier dates are defaults
# of programs that had none.
_OLDEST_SECONDS = 946684800.0
# The year 10000: a stamp with five digits of a year would no longer sort as text.
_NEWEST_SECONDS = 253402300800.0 - 0.001


def _from_number(number: float) -> tuple[str, bool] | None:
    # Compared first: an int may be too large for a float, and NaN is not within.
    if not _OLDEST_SECONDS <= number <= _NEWEST_SECONDS * 1000:
        return None
    seconds = number / 1000 if number > _MILLISECONDS_FROM else float(number)
    return (stamp(seconds), True) if _OLDEST_SECONDS <= seconds < _NEWEST_SECONDS else None


def local_day(instant: str) -> str:
    """The calendar day of a stamp in the user's own zone, as `2026-04-16`."""
    return _moment(instant).astimezone().date().isoformat()


def shifted(instant: str, **delta: float) -> str:
    """A stamp moved by a timedelta: `shifted(at, days=-1)`."""
    from datetime import timedelta

    return stamp((_moment(instant) + timedelta(**delta)).timestamp())


def _moment(text: str) -> datetime:
    # Loaded only where a calendar is needed: a hook only writes stamps, and saves 2 ms.
    from datetime import datetime

    return datetime.fromisoformat(text.replace("Z", "+00:00"))
