"""A day that a query names, "yesterday" or 上周, as the time it means in the user's own zone (hot path)."""

from __future__ import annotations

import functools
import re
from datetime import date, datetime, time, timedelta

from catmem.domain.clock import seconds_of, stamp
from catmem.recall.query import Query
from catmem.text.simplified import simplified

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NotRequired, TypeAlias, TypedDict

    class Period(TypedDict):
        """`words` as they stood in the query; `since` and `until` are stamps, both included.

        `missed` is true where nothing was said then, and the whole query was searched for instead.
        """

        words: str
        since: str
        until: str
        missed: NotRequired[bool]

    _Days: TypeAlias = Callable[[date, re.Match[str]], tuple[date, date]]
    """From today to the first day and the day after the last."""

_MILLISECOND = timedelta(milliseconds=1)
# "What did we do yesterday" names a day, and nothing else; as `query_tokens` writes the words.
_DOINGS = frozenset(
    """do did done decid decide decision discuss talk work finish stop happen agree learn say said chang change progress
    was were up summary summarize recap stand 决定 讨论 做了 干了 聊了 说了 定了 改了 学了 了什 做到 到哪 哪些 进展 完成 工作 都做 都干 都聊 事情
    情况 总结 回顾 发生 生了 论了 成了 定的 做的 聊到 哪了 里了 儿了 哪儿""".split()  # noqa: SIM905
)

_ASKING = r"\b(?:what|which|where|how|summar|recap)|什么|啥|哪|多少|总结|回顾|进展|怎么"


def period_in(words: str, now: float) -> tuple[str, Period | None]:
    """The query without the day that it names, and that day; the query as it is and None if it names none.

    `now` is in seconds since the epoch. A day is only read where the rest still says what to look for, where it names
    the time itself (no "before last week") and stands in no quotes.
    """
    rest, period = _read(words, now)
    return (rest, period) if period and Query(rest).units else (words, None)


def bare_period(words: str, now: float, *, searched: bool) -> Period | None:
    """The day of a query that asks for nothing but what was then: "what did we decide yesterday?", 上周做了什么.

    Of words typed to search with (`searched`) the day alone is enough; a prompt must ask: "thanks, that's all for today"
    does not.
    """
    rest, period = _read(words, now)
    if period is None:
        return None
    query = Query(rest)
    if any(not all(token in _DOINGS for token in unit) for unit in query.units):
        return None
    asks = not _DOINGS.isdisjoint(query.said) and bool(_compiled(_ASKING).search(simplified(rest)))
    return period if searched or asks else None


def bounds_of(period: Period) -> tuple[int, int]:
    """As the index counts time: in milliseconds, both included."""
    return round(seconds_of(period["since"]) * 1000), round(seconds_of(period["until"]) * 1000)


def _read(words: str, now: float) -> tuple[str, Period | None]:
    folded = simplified(words)
    lower = folded.lower()
    for hints, pattern, days in _WORDS:
        if not any(hint in lower for hint in hints):
            continue
        found = _compiled(pattern).search(folded)
        if found is None or _is_quoted(words, found.start()) or _is_bound(words, found):
            continue
        rest = f"{words[: found.start()]} {words[found.end() :]}".strip()
        first, after = days(datetime.fromtimestamp(now).date(), found)
        named = words[found.start() : found.end()].strip()
        return rest, {"words": named, "since": _begin(first), "until": _begin(after, -_MILLISECOND)}
    return words, None


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _begin(day: date, shift: timedelta = timedelta()) -> str:
    """The instant at which a day begins here, whatever the clocks do that night."""
    return stamp((datetime.combine(day, time()).astimezone() + shift).timestamp())


def _is_quoted(words: str, position: int) -> bool:
    before = words[:position]
    return before.count('"') % 2 == 1 or any(before.count(a) > before.count(b) for a, b in ("“”", "「」", "『』"))


def _is_bound(words: str, found: re.Match[str]) -> bool:
    """True where the day is only one end of a time, or not a day of the calendar: since yesterday, 昨天之前."""
    before, after = _compiled(_BEFORE), _compiled(_AFTER)
    return bool(before.search(words[: found.start()]) or after.match(words[found.end() :]))


_BEFORE = r"\b(?:since|until|till|before|after|by|than)\s+$|(?:自从|截至|截止|直到|早于|晚于)\s*$"
_AFTER = r"\s*(?:之前|以前|之后|以后|以来|前的|后的)|\s+of\b"


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
# another word of it is excluded: 目前天气, 日本周刊, 上周末. Each has what is in every text that it is found in, since
# compiling all of them would cost a hook 3 ms.
_WEEK = ("week", "周", "星期", "礼拜")
_WORDS: tuple[tuple[tuple[str, ...], str, _Days], ...] = (
    (
        ("yesterday", "前天"),
        r"\bthe day before yesterday(?:'s|’s)?\b|(?<![大目以之从眼跟提向当])前天(?![气天])",
        _day(2),
    ),
    (("days ago",), r"\b(?P<days>\d{1,4}) days ago\b", _days_ago),
    (("天前", "天之前", "天以前"), r"(?<!\d)(?P<days>\d{1,4})\s*天(?:之|以)?前", _days_ago),
    (("yesterday", "昨"), r"\byesterday(?:'s|’s)?\b|昨天|昨日", _day(1)),
    (("today", "今"), r"\btoday(?:'s|’s)?\b|今天|今日", _day(0)),
    (_WEEK, r"\blast week(?:'s|’s)?\b|上个?(?:周|星期|礼拜)(?![末期边围一二三四五六日天])", _week(1)),
    (
        _WEEK,
        r"\bthis week(?:'s|’s)?\b|(?:(?<![日资基根成版])本|这个?)(?:周|星期|礼拜)(?![末期边围刊一二三四五六日天])",
        _week(0),
    ),
    (("last month", "月"), r"\blast month(?:'s|’s)?\b|上个?月(?![亮球光])(?<![晚早]上月)", _month(1)),
    (("this month", "月"), r"\bthis month(?:'s|’s)?\b|(?:(?<![日资基根成版])本|这个)月", _month(0)),
    (("last year", "去年"), r"\blast year(?:'s|’s)?\b|去年", _year(1)),
    (("this year", "今年"), r"\bthis year(?:'s|’s)?\b|今年", _year(0)),
)
