"""A day that a query names, "yesterday" or 上周, as the time it means in the user's own zone."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from typing import TypedDict

from catmem.domain.clock import stamp
from catmem.recall.query import Query
from catmem.text.simplified import simplified


class Period(TypedDict):
    """`words` as they stood in the query; `since` and `until` are stamps, both included."""

    words: str
    since: str
    until: str


_MILLISECOND = timedelta(milliseconds=1)


def period_in(words: str, now: float) -> tuple[str, Period | None]:
    """The query without the day that it names, and that day; the query as it is and None if it names none.

    `now` is in seconds since the epoch. A day is only read where the rest still says what to look for, where it names
    the time itself (no "before last week") and stands in no quotes.
    """
    folded = simplified(words)
    for pattern, days in _WORDS:
        found = re.search(pattern, folded, re.IGNORECASE)
        if found is None or _is_quoted(words, found.start()) or _is_bound(words, found):
            continue
        rest = f"{words[: found.start()]} {words[found.end() :]}".strip()
        if not Query(rest).units:
            return words, None
        first, after = days(datetime.fromtimestamp(now).date(), found)
        return rest, Period(
            words=words[found.start() : found.end()].strip(), since=_begin(first), until=_begin(after, -_MILLISECOND)
        )
    return words, None


def _begin(day: date, shift: timedelta = timedelta()) -> str:
    """The instant at which a day begins here, whatever the clocks do that night."""
    return stamp((datetime.combine(day, time()).astimezone() + shift).timestamp())


def _is_quoted(words: str, position: int) -> bool:
    before = words[:position]
    return before.count('"') % 2 == 1 or any(before.count(a) > before.count(b) for a, b in ("“”", "「」", "『』"))


def _is_bound(words: str, found: re.Match[str]) -> bool:
    """True where the day is only one end of a time, or not a day of the calendar: since yesterday, 昨天之前."""
    return bool(_BEFORE.search(words[: found.start()]) or _AFTER.match(words[found.end() :]))


_BEFORE = re.compile(r"\b(?:since|until|till|before|after|by|than)\s+$|(?:自从|截至|截止|直到|早于|晚于)\s*$", re.I)
_AFTER = re.compile(r"\s*(?:之前|以前|之后|以后|以来|前的|后的)|\s+of\b", re.I)

_Days = Callable[[date, re.Match[str]], tuple[date, date]]
"""From today to the first day and the day after the last."""


def _day(back: int) -> _Days:
    return lambda today, _: (today - timedelta(back), today - timedelta(back - 1))


def _days_ago(today: date, found: re.Match[str]) -> tuple[date, date]:
    # Nobody remembers a day by a larger number, and the calendar ends somewhere.
    return _day(min(int(found["days"]), 9999))(today, found)


def _week(back: int) -> _Days:
    """Weeks begin on Monday (ISO 8601)."""

    def days(today: date, _: re.Match[str]) -> tuple[date, date]:
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(7)

    return days


def _month(back: int) -> _Days:
    def days(today: date, _: re.Match[str]) -> tuple[date, date]:
        month = today.year * 12 + today.month - 1 - back
        return _first(month), _first(month + 1)

    return days


def _first(month: int) -> date:
    return date(month // 12, month % 12 + 1, 1)


def _year(back: int) -> _Days:
    return lambda today, _: (date(today.year - back, 1, 1), date(today.year - back + 1, 1, 1))


# The longer ones first: "the day before yesterday" has a yesterday in it. What may stand beside a Chinese one and make
# another word of it is excluded: 目前天气, 日本周刊, 上周末.
_WORDS: tuple[tuple[str, _Days], ...] = (
    (r"\bthe day before yesterday(?:'s|’s)?\b|(?<![大目以之从眼跟提向当])前天(?![气天])", _day(2)),
    (r"\b(?P<days>\d{1,4}) days ago\b", _days_ago),
    (r"(?<!\d)(?P<days>\d{1,4})\s*天(?:之|以)?前", _days_ago),
    (r"\byesterday(?:'s|’s)?\b|昨天|昨日", _day(1)),
    (r"\btoday(?:'s|’s)?\b|今天|今日", _day(0)),
    (r"\blast week(?:'s|’s)?\b|上个?(?:周|星期|礼拜)(?![末期边围一二三四五六日天])", _week(1)),
    (
        r"\bthis week(?:'s|’s)?\b|(?:(?<![日资基根成版])本|这个?)(?:周|星期|礼拜)(?![末期边围刊一二三四五六日天])",
        _week(0),
    ),
    (r"\blast month(?:'s|’s)?\b|上个?月(?![亮球光])(?<![晚早]上月)", _month(1)),
    (r"\bthis month(?:'s|’s)?\b|(?:(?<![日资基根成版])本|这个)月", _month(0)),
    (r"\blast year(?:'s|’s)?\b|去年", _year(1)),
    (r"\bthis year(?:'s|’s)?\b|今年", _year(0)),
)
