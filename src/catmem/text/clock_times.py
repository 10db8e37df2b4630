"""Times of day as people write them, in either language: 9:30, 9:30 pm, half of them words (早上九点半)."""

from __future__ import annotations

import functools
import re

_HOURS = dict(zip("零一二三四五六七八九十", range(11), strict=True)) | {"两": 2, "十一": 11, "十二": 12}
# Halves of a day that an hour is counted in; noon begins at twelve, so that its 1 is 13.
_LATER = frozenset({"pm", "下午", "傍晚", "晚上", "中午"})
_ENGLISH = (
    r"(?<![\d.:])(?P<hour>[01]?\d|2[0-4])(?::(?P<minute>[0-5]\d)(?![\d:]))?\s?(?P<half>[ap]\.?m\b\.?)"
    r"|(?<![\d.:])(?P<hour24>[01]?\d|2[0-4]):(?P<minute24>[0-5]\d)(?![\d:.]*\d)"
    r"|(?<![\d.:])(?P<hour12>\d|1[0-2])\s?o['’]?clock\b"
)
# Three points are no time: a part of the day, the minutes or when it comes again must tell.
_CHINESE = (
    r"(?P<part>凌晨|清晨|早上|上午|中午|下午|傍晚|晚上)\s?(?P<hour>\d{1,2}|十[一二]?|[零一二两三四五六七八九])\s?[点时]"
    r"(?P<minute>半|整|钟|\d{1,2}分?)?"
    r"|(?:(?<=[每一]天)|(?<=周[一二三四五六日天])|(?<=[在于到]))\s?(?P<hour_then>\d{1,2}|十[一二]?|[一二两三四五六七八九])\s?点"
    r"(?P<minute_then>半|整|钟|\d{1,2}分?)?(?![\u4e00-\u9fff]?建议)"
    r"|(?P<hour_told>\d{1,2}|十[一二]?|[一二两三四五六七八九])\s?点(?P<minute_told>半|整|钟|\d{1,2}分)"
)


def without_clock_times(folded: str) -> tuple[str, list[int]]:
    """A folded text without the times of day in it, and those in minutes since midnight."""
    if not any(map(str.isdigit, folded)) and "点" not in folded:
        return folded, []
    found: list[int] = []
    for pattern in (_ENGLISH, _CHINESE):
        folded = _compiled(pattern).sub(lambda met: _noted(met, found), folded)
    return folded, found


def _noted(met: re.Match[str], found: list[int]) -> str:
    told = {name.partition("_")[0].rstrip("0123456789"): text for name, text in met.groupdict().items() if text}
    hour = int(told["hour"]) if told["hour"].isdigit() else _HOURS[told["hour"]]
    if hour > 24:
        return met[0]
    half = told.get("half", "").replace(".", "") or told.get("part", "")
    found.append((_in_the_day(hour, half) * 60 + _minutes(told.get("minute", ""))) % (24 * 60))
    return " "


def _in_the_day(hour: int, half: str) -> int:
    if hour == 12:
        return 12 if half in ("", *_LATER - {"晚上"}) else 0
    return hour + 12 if half in _LATER and hour < (11 if half == "中午" else 12) else hour


def _minutes(told: str) -> int:
    return 30 if told == "半" else int("".join(filter(str.isdigit, told)) or 0)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
