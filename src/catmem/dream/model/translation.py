"""Whether two statements say the same in two languages, as far as tables of words can tell: nothing may be left over.

A text is read as things and signs: words of the table of concepts and of the small one below, each thing said of or
denied. What neither table knows must stand in both texts as it is; a word of Chinese that no table knows is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from catmem.text.concept_words import CONCEPTS
from catmem.text.concepts import NAME
from catmem.text.stopwords import CHINESE_CHARACTERS, CHINESE_PAIRS, ENGLISH
from catmem.text.tokens import tokens

# What a statement hangs on beside its subject. It goes before the concepts: a tab is indentation to who searches, and no
# space to who merges.
_COMMON = """
run|跑|运行|执行
write|written|写|编写|撰写
tab|制表符
space|空格
before|前|之前|以前
after|后|之后
first|先|首先
only|只|仅|只能
every|每|每个|每次
two|二|两
three|三
four|四
five|五
six|六
seven|七
eight|八
nine|九
ten|十
"""
# Of a day it is the whole clause that is said or denied, whichever comes first: 周五不部署.
_TIMES = """
monday|周一|星期一|礼拜一
tuesday|周二|星期二|礼拜二
wednesday|周三|星期三|礼拜三
thursday|周四|星期四|礼拜四
friday|周五|星期五|礼拜五
saturday|周六|星期六|礼拜六
sunday|周日|周天|星期日|星期天|礼拜天
weekend|周末
morning|早上|上午
afternoon|下午
evening|night|晚上|夜里|夜间
daily|每天|每日
weekly|每周
"""
_NOT = frozenset("not no never none dont doesnt isnt arent wont cant cannot shouldnt mustnt without avoid".split())  # noqa: SIM905
_NOT_CHINESE = re.compile("而不是|不要|不用|不能|不再|不许|不得|没有|别用|禁止|严禁|避免|不|没|别|勿")
# Of the words that say nothing to a search, those that turn a statement round.
_TURNING = "before after only every if unless until from over than into under more less most least nor"
_TELLING = _NOT | frozenset(_TURNING.split())
_FILLING = (frozenset(ENGLISH) | {"always", "usually", "generally", "remember", "now"}) - _TELLING
_MANNER = (
    "用",
    "使",
    "都",
    "一律",
    "统一",
    "总是",
    "记住",
    "务必",
    "必须",
    "应该",
    "使用",
    "全部",
    "通常",
    "一般",
    "今后",
)
_FILLING_CHINESE = sorted(
    {*CHINESE_CHARACTERS, *CHINESE_PAIRS, *_MANNER}
    - set("不没别从到比前后里中上下更太很最"),
    key=len,
    reverse=True,
)  # fmt: skip
_CLAUSE = re.compile(r"[,;:!?，；：。！？、]+|\.(?=\s|$)|\bbut\b")
_RUN = re.compile("[\u3400-\u9fff]+|[^\u3400-\u9fff]+")
_LONGEST = 8
_Thing = tuple[frozenset[str], bool]


@dataclass(slots=True)
class Reading:
    """`things` are what a text names, each with whether it is denied; `names` those that no table knows, in their order.

    `whole`: all of the text was understood.
    """

    things: list[_Thing] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    whole: bool = True


def say_the_same(one: str, other: str) -> bool:
    """True if each text names what the other names, says it of the same things, and has nothing beside that."""
    a, b = reading_of(one), reading_of(other)
    return a.whole and b.whole and len(a.things) > 1 and a.names == b.names and _covers(a, b) and _covers(b, a)


def contradict(one: str, other: str) -> bool:
    """True if one text says of a thing what the other denies, or they name other days: however alike they are."""
    a, b = reading_of(one), reading_of(other)
    shared = set(a.names) & set(b.names)
    # Where both deny something, word order puts the same thing before or after the denial; a name it does not move.
    both_deny = all(any(denied for _, denied in text.things) for text in (a, b))
    for thing, denied in a.things:
        signs = {sign for other_thing, sign in b.things if thing & other_thing}
        if signs and denied not in signs and (not both_deny or thing <= shared):
            return True
    days = [{word for thing, _ in text.things for word in thing if word.startswith("@")} for text in (a, b)]
    return days[0] != days[1]


def names_in_order(one: str, other: str) -> bool:
    """True if the names that two texts share come in one order: from here to there is not from there to here."""
    a, b = reading_of(one).names, reading_of(other).names
    return [name for name in a if name in b] == [name for name in b if name in a]


def reading_of(text: str) -> Reading:
    found = Reading()
    for clause in _CLAUSE.split(text.casefold().replace("’", "'")):
        _read(clause, found)
    return found


def _read(clause: str, found: Reading) -> None:
    things: list[_Thing] = []
    denials = 0
    for word in _words(clause):
        if word == "not":
            denials += 1
        elif word == "?":
            found.whole = False
        elif word.startswith("="):
            found.names.append(word)
            things.append((frozenset((word,)), bool(denials)))
        else:
            things.append((frozenset(word.split()), bool(denials)))
    # What is denied twice over is beyond this.
    found.whole = found.whole and denials < 2
    for thing, denied in things:
        time = any(name.startswith("@") for name in thing)
        found.things.append((thing, bool(denials) if time else denied))


def _words(clause: str) -> Iterator[str]:
    """The lines of the tables that words stand in, by their numbers; `=name` for others, `not`, and `?` for Chinese that
    is in none."""
    for run in _RUN.findall(clause):
        yield from _chinese(run) if "\u3400" <= run[0] <= "\u9fff" else _english(tokens(run))


def _english(said: list[str]) -> Iterator[str]:
    place = 0
    while place < len(said):
        for end in range(min(len(said), place + 3), place, -1):
            if lines := _table().get(" ".join(said[place:end])):
                yield lines
                break
        else:
            end = place + 1
            if said[place] in _NOT:
                yield "not"
            elif said[place] not in _FILLING:
                yield f"={said[place]}"
        place = end


def _chinese(run: str) -> Iterator[str]:
    place = 0
    while place < len(run):
        for end in range(min(len(run), place + _LONGEST), place, -1):
            if lines := _table().get(run[place:end]):
                yield lines
                break
        else:
            denial = _NOT_CHINESE.match(run, place)
            filling = next((word for word in _FILLING_CHINESE if run.startswith(word, place)), "")
            end = denial.end() if denial else place + (len(filling) or 1)
            if denial or not filling:
                yield "not" if denial else "?"
        place = end


@cache
def _table() -> dict[str, str]:
    """word -> the lines that it stands in, parted by blanks; a day's line begins with @."""
    found: dict[str, str] = {}
    for sign, text in (("", CONCEPTS), ("c", _COMMON), ("@", _TIMES)):
        own: dict[str, str] = {}
        for number, line in enumerate(text.strip().split("\n")):
            for word in line.split("|"):
                if word and not word.startswith(NAME):
                    written = " ".join(tokens(word)) if word.isascii() else word
                    own[written] = f"{own.get(written, '')} {sign}{number}".strip()
        found.update(own)
    return found


def _covers(one: Reading, other: Reading) -> bool:
    return all(any(thing & t and denied == d for t, d in other.things) for thing, denied in one.things)
