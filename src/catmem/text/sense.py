"""What a statement says, bare enough to hold two of them against each other in either language.

A statement is made of clauses; a clause either says something or denies it. What it is about are its words without
those that only tell how it is meant ("we always use …", 一律用…), each by one name for the words of both languages that
stand for the same thing. Made when a memory is indexed: a hook has no time for it.
"""

from __future__ import annotations

import functools
import re
import unicodedata

from catmem.text.choices import CHOICES
from catmem.text.clock_times import without_clock_times
from catmem.text.concepts import bridges, words_in
from catmem.text.simplified import simplified
from catmem.text.stemming import stem
from catmem.text.tokens import query_tokens, stopwords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_CLAUSES = r"[,;:]\s|[.!?]\s|[，。；：！？、\n]|\b(?:but|instead of|rather than)\b|但是?|而不是?|不过"
# What holds under a condition is no contrary of what holds without.
_CONDITION = r"\s*(?:if|when|whenever|unless|until|while|except|如果|要是|除非|除了|当|遇到)"
_DENIALS = (
    r"\b(?:do|does|did|is|are|was|were|should|must|will|would|can|could|may)(?: ?not|n['’]?t)\b|\bcannot\b|\bwon['’]t\b"
    r"|\b(?:never|not|no longer|no|without|avoid(?:s|ing)?|stop(?:s|ped)?|hates?|dislikes?|refuses?)\b"
    r"|不再使用|不再用|不使用|不要用|不能用|不许用|不准用|不喜欢|不要|不用|不能|不许|不准|不得|不可以|不可|不再|不想|不写"
    r"|禁止|严禁|避免|讨厌|切勿|勿|别(?![的人处名])|没有|不"
)
_REJECTING = ("instead of", "rather than", "而不")
# How it is meant, and the verbs that any statement of use can do without.
_LIGHT = (
    r"我们|咱们|本项目|项目里|项目中|这个项目|项目(?=[用使采])|用户|使用|采用|统一|一律|全部|所有|总是|始终|必须|应该|应当"
    r"|需要|默认|至少|最多|至多|放在|定在|定到|安排在|改到|改在|推迟到|提前到|(?<=[交送布署传推])到"
    r"|喜欢|偏好|习惯|记住|以后|今后|往后|每次|都要|请|尽量|只用|只能|直接|改用|改成|换成|改为|写成"
    r"|的时候|时候|进行|保持|来写|来做|中(?!文)|上(?!线)|(?<![站晨早例周开机])会|[用写做跑走要都请把在是为得的了就也还和与及能让给里]"
)
_LIGHT_ENGLISH = frozenset(
    """use prefer like want always every each should must make keep write set do have please user project our we now
    default only go get put let need try be stay remain rule convention style way thing ever decid choose chose
    decide switch move still currently strictly simply directly just all add run live with via through least most maximum
    minimum max min""".split()  # noqa: SIM905
)
# A number beside one of these measures: two statements alike but for it are of different opinion. Others only name
# things: line 3, case 7.
_NUMBER = (
    r"([a-z]+|[\u4e00-\u9fff]{2})?(?: is| to| of| at|是|为)?[ :=]*(\d+(?:\.\d+)*)[ -]?([a-z]+|%|[\u4e00-\u9fff]{1,2})?"
)
_MEASURED = frozenset(
    """port timeout limit length width version python node java ruby php go postgres mysql 端口 超时 上限 行宽 行长 版本
    本是""".split()  # noqa: SIM905
)
_UNITS = frozenset(
    """column columns col cols character characters char chars space spaces second seconds sec secs s minute minutes min
    hour hours h day days week weeks month months year years ms kb mb gb tb px percent % times retries
    列 字符 个空 空格 秒 毫秒 分钟 小时 天 周 个月 年 行 次 兆""".split()  # noqa: SIM905
)
# Of what has a version or a number it need not be said that it is one.
_VERSIONED = frozenset({"version", "版本"})
# Numbers as words, where they count: two spaces, 两个空格.
_COUNTED = {
    **dict(zip("two three four five six eight ten".split(), "2 3 4 5 6 8 10".split(), strict=True)),  # noqa: SIM905
    **dict(zip("两二三四五六八十", ("2", "2", "3", "4", "5", "6", "8", "10"), strict=True)),
}
_COUNTING = (
    r"\b(?:two|three|four|five|six|eight|ten)(?=[ -][a-z])"
    r"|(?<![一二三四五六七八九十百])[两二三四五六八十](?=个空|格|列|秒|分钟|小时|天|周|个月|次)"
)
# A unit is the same in either language, and goes with its number; but a space is what is chosen, too.
_UNIT_NAMES = {
    "s": "seconds?|secs?|s|秒",
    "min": "minutes?|mins?|分钟?",
    "h": "hours?|h|小时?",
    "d": "days?|天",
    "w": "weeks?|周",
    "m": "months?|个月?|月",
    "col": "columns?|cols?|列",
    "char": "characters?|chars?|个?字符?",
}
# What goes without saying of what is at some time of the day.
_OF_A_TIME = r"\b(?:starts?|begins?|held|happens?|takes? place|daily|every ?day|each day|sharp)\b|每天|每日|开始|准时|举行|召开|进行"
_UNIT_OF = rf"(?<=\d)[ -]?(?:(?:{'|'.join(_UNIT_NAMES.values())})(?![a-z]))"


def sense_of(text: str) -> str:
    """The clauses of a statement, parted by `;`: `tab,indentation;!space`.

    A clause that denies begins with `!`; a word that is one alternative of a choice with the number of that choice and
    `=`; the last part, after `#`, are the numbers that measure. "" for a text that says nothing by itself.
    """
    folded = simplified(unicodedata.normalize("NFKC", text)).casefold()
    # The one name here that begins with a function word.
    folded = folded.replace("vs code", "vscode")
    folded = _compiled(_COUNTING).sub(lambda counted: _COUNTED[counted[0]], folded)
    folded, times = without_clock_times(folded)
    if times:
        folded = _compiled(_OF_A_TIME).sub(" ", folded)
    found = dict(_measures(folded))
    measures = [number + unit for number, unit in found.items()] + [f"{minutes}t" for minutes in times]
    folded = _compiled(_UNIT_OF).sub(" ", folded) if found else folded
    clauses = [("!" if denied else "") + ",".join(words) for denied, words in _clauses(folded, found)]
    return ";".join([*clauses, "#" + ",".join(measures)] if measures else clauses)


def _clauses(folded: str, numbers: Mapping[str, str]) -> Iterator[tuple[bool, list[str]]]:
    start, rejected = 0, False
    for cut in (*_compiled(_CLAUSES).finditer(folded), None):
        clause = folded[start : cut.start()] if cut else folded[start:]
        if clause.strip() and not _compiled(_CONDITION).match(clause):
            bare, denials = _compiled(_DENIALS).subn(" ", clause)
            words = _words(bare, numbers)
            if words:
                yield (denials + rejected) % 2 == 1, words
        if cut:
            start, rejected = cut.end(), cut[0].startswith(_REJECTING)


def _words(bare: str, numbers: Mapping[str, str]) -> list[str]:
    """The words of a clause that tell what it is about: choices, then concepts, then whatever is left."""
    ignored = stopwords()
    said = [
        token
        for token in query_tokens(_compiled(_LIGHT).sub(" ", bare))
        if token not in ignored and token not in _LIGHT_ENGLISH and token not in numbers
    ]
    if numbers:
        said = [token for token in said if token not in _VERSIONED]
    choices = _choices()
    left = list(said)
    words: dict[str, None] = {}
    chosen = [place for place in words_in(said) if place[2] in choices]
    for start, end, word in sorted(chosen, key=lambda place: place[0] - place[1]):
        if all(left[start:end]):
            _take(left, start, end)
            words[choices[word]] = None
    for span in bridges(list(left)):
        _take(left, span.start, span.start + len(span.said))
        words[span.name] = None
    words.update(dict.fromkeys(filter(None, left)))
    unsaid = {word for chosen in words for word in _unsaid().get(chosen.partition("=")[0], ())}
    return [word for word in words if word not in unsaid]


def _take(left: list[str], start: int, end: int) -> None:
    """Crosses out a word, and the pairs that only join it with what stands beside it."""
    first, last = left[start], left[end - 1]
    if start and _is_pair(left[start - 1]) and _is_pair(first) and left[start - 1][1] == first[0]:
        left[start - 1] = ""
    if end < len(left) and _is_pair(left[end]) and _is_pair(last) and left[end][0] == last[1]:
        left[end] = ""
    left[start:end] = [""] * (end - start)


def _is_pair(token: str) -> bool:
    return len(token) == 2 and not token.isascii()


def _measures(folded: str) -> Iterator[tuple[str, str]]:
    """The numbers that measure, each with its unit by one name, "" for none."""
    for before, number, after in _compiled(_NUMBER).findall(folded):
        if before in _MEASURED or after in _UNITS or after[:1] in _UNITS:
            yield number, next((n for n, written in _UNIT_NAMES.items() if _compiled(written).fullmatch(after)), "")


@functools.cache
def _choices() -> dict[str, str]:
    """Each word of a choice, as a text has it, with the name of its alternative; that begins with `?` as its line does."""
    return {
        " ".join(map(stem, word.split())): f"{number}={alternative.split(',')[0]}"
        for number, line in _lines()
        for alternative in line.partition(";")[0].split("|")
        for word in alternative.split(",")
        if word
    }


@functools.cache
def _unsaid() -> dict[str, frozenset[str]]:
    """By the number of a choice, as words of a clause, what goes without saying beside it."""
    return {
        number: frozenset(token for word in unsaid.split(",") for token in (word, *query_tokens(word)))
        for number, line in _lines()
        if (unsaid := line.partition(";")[2])
    }


def _lines() -> Iterator[tuple[str, str]]:
    for number, line in enumerate(CHOICES.split("\n")):
        yield (f"?{number}", line[1:]) if line.startswith("?") else (str(number), line)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
