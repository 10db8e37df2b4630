"""The months and days of the calendar that a query names (hot path): "in March", 1月中旬, January 22nd, 2025-02-27.

A hint and no filter: a deadline in March may have been spoken of in January. What was said then ranks higher.
"""

from __future__ import annotations

import re
from datetime import datetime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What it is worth that a text is of the month, and of the part of it or the day, that the query names. Between half and
# twice as much two public sets in both languages gain alike; it must stay below what two words more are worth.
_MONTH, _DAY = 0.3, 0.3
MOST = _MONTH + _DAY

_NAMES = "january february march april may june july august september october november december".split()  # noqa: SIM905
_CHINESE = {sign: number for number, sign in enumerate("一二三四五六七八九十", 1)} | {"十一": 11, "十二": 12}
_PARTS = {"初": (1, 10), "上": (1, 10), "中": (11, 20), "下": (21, 31), "底": (21, 31), "末": (21, 31)} | {
    "early": (1, 10), "beginning of": (1, 10), "mid": (11, 20), "late": (21, 31), "end of": (21, 31),
}  # fmt: skip


# One of these is in every text that names a day by its distance from now; reading which is the work of period.py, which
# a hook loads only then.
_DISTANT = (
    "yesterday",
    "today",
    "days ago",
    "week",
    "month",
    "year",
    "天",
    "昨",
    "今",
    "周",
    "星期",
    "礼拜",
    "禮拜",
    "月",
    "年",
)


def may_name_a_day(text: str) -> bool:
    lower = text.lower()
    return any(hint in lower for hint in _DISTANT)


class Moment:
    """The days `first` to `last` of a month; `year` is 0 where none was named."""

    __slots__ = ("first", "last", "month", "year")

    def __init__(self, year: int, month: int, first: int = 1, last: int = 31) -> None:
        self.year, self.month, self.first, self.last = year, month, first, last

    def bounds(self, now: int) -> tuple[int, int]:
        """The month in milliseconds, its end included; without a year the last one that has begun."""
        today = datetime.fromtimestamp(now / 1000)
        year = self.year or (today.year if self.month <= today.month else today.year - 1)
        end = datetime(year + self.month // 12, self.month % 12 + 1, 1)
        return round(datetime(year, self.month, 1).timestamp() * 1000), round(end.timestamp() * 1000) - 1

    def fit(self, day: datetime) -> float:
        if day.month != self.month or self.year not in (0, day.year):
            return 0.0
        narrow = (self.first, self.last) != (1, 31)
        return _MONTH + _DAY * (narrow and self.first <= day.day <= self.last)


class Span:
    """A time that a query names by its distance from now: "last week". It counts as much as a day of the calendar."""

    __slots__ = ("since", "until")

    def __init__(self, since: int, until: int) -> None:
        """Milliseconds, both included."""
        self.since, self.until = since, until

    def bounds(self, now: int) -> tuple[int, int]:
        return self.since, self.until

    def fit(self, day: datetime) -> float:
        return MOST if self.since <= day.timestamp() * 1000 <= self.until else 0.0


def fit(moments: Iterable[Moment | Span], instants: Iterable[int]) -> float:
    """How well something that was said at `instants` (milliseconds) fits the best of the moments, in 0..MOST."""
    days = [datetime.fromtimestamp(instant / 1000) for instant in instants]
    return max((moment.fit(day) for moment in moments for day in days), default=0.0)


def moments_in(text: str) -> list[Moment]:
    """The moments that a text names, in the user's own zone. Cheap for a text that names none."""
    found: list[Moment] = []
    if "月" in text:
        found.extend(_chinese(text))
    lower = text.lower()
    if any(name in lower for name in _NAMES):
        found.extend(_english(text))
    if "-" in text or "/" in text:
        found.extend(_numbers(text))
    return found


def _chinese(text: str) -> Iterator[Moment]:
    pattern = r"(?:(\d{4})\s*年)?\s*(\d{1,2}|十[一二]?|[一二三四五六七八九])\s*月份?(?:\s*(\d{1,2})\s*[日号]|([初底末]|[上中下]旬))?"
    for year, month, day, part in re.findall(pattern, text):
        yield from _moment(year, _CHINESE.get(month) or int(month), day, _PARTS.get(part[:1]))


def _english(text: str) -> Iterator[Moment]:
    names = "|".join(_NAMES)
    pattern = (
        rf"(?:\b(early|beginning of|mid|late|end of)[ -])?\b({names})\b"
        r"(?: (?:the )?(\d{1,2})(?:st|nd|rd|th)?\b(?!:))?(?:,? (\d{4})\b)?"
    )
    for found in re.finditer(pattern, text, re.IGNORECASE):
        part, name, day, year = found.groups()
        # "You may", "march on": a month of these names has its capital, and a word or a number beside it.
        if name.lower() in ("may", "march") and not (
            name[0].isupper()
            and (part or day or year or re.search(r"\b(?:in|of|since|last|this|on|by|for) $", text[: found.start()]))
        ):
            continue
        yield from _moment(year, _NAMES.index(name.lower()) + 1, day, _PARTS.get((part or "").lower()))


def _numbers(text: str) -> Iterator[Moment]:
    for year, month, day in re.findall(r"(?<!\d)((?:19|20)\d\d)[-/](\d{1,2})(?:[-/](\d{1,2}))?(?!\d)", text):
        yield from _moment(year, int(month), day, None)


def _moment(year: str | None, month: int, day: str | None, part: tuple[int, int] | None) -> Iterator[Moment]:
    """A moment, if the calendar has it."""
    number = int(day or 0)
    if 1 <= month <= 12 and number <= 31 and (not year or 1970 <= int(year) <= 9000):
        yield Moment(int(year or 0), month, *((number, number) if number else part or (1, 31)))
