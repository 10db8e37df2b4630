"""How far two sentences say the same, in either language: by the weight of the terms that they share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from catmem.domain.memory import normal
from catmem.text.simplified import simplified

_PIECE = re.compile(r"[a-z0-9_]+(?:[./:@#+-]+[a-z0-9_]+)*(?:\+\+|#)?|[\u3400-\u9fff]+")
_VALUE = re.compile(r"\d")
# Words that carry no subject: shared by any two sentences of a developer.
_EMPTY = frozenset(
    """a an the this that these those it its is are was were be been being am do does did done doing have has had having
    i me my mine we us our ours you your yours they them their he she his her him one ones who which what when where how
    why if then than so as at by for from in into of on onto to up out off over under with without within and or but nor
    not no yes ok okay please pls just only also too very really much more most less least some any all every each both
    either neither other another same such own here there now again still already yet ever never always usually
    normally generally will would shall should can could may might must need needs let lets get gets got go goes going
    make makes made want wants like likes prefer prefers use uses used using keep keeps put puts thing things stuff way
    bit lot kind sort don doesn didn isn aren wasn won t s d ll ve re m im dont id ive remember remembers from last week
    time times new old""".split()  # noqa: SIM905
)
_EMPTY_CHINESE = frozenset(
    """我们 你们 他们 咱们 这个 那个 这些 那些 一个 一下 一些 什么 怎么 现在 以后 以前 之前 之后 已经 还是 就是 不是 但是 因为 所以 如果
    可以 不要 不用 都是 都要 一律 统一 记住 的时 时候 用的 的话 的是 是的 了的 我的 你的 先把 把这 我喜 喜欢 我习 习惯 我不 不喜 都用 使用 全部 所有
    都喜 欢看 欢先 欢用""".split()  # noqa: SIM905
)
_FUNCTION = frozenset("的了吗呢吧啊是在和与就都也还很把被给让对着过要会能我你他她它们这那不没有用")
# Particles and measures that stand inside of phrases: 画个图 and 画图 are one thing.
_FILLING = re.compile(
    "(?<=[\u3400-\u9fff])(?:一下|一个|一张|一些|下|个|些|的|了|啊|呀|吧|嘛)(?=[\u3400-\u9fff])|[啊呀吧嘛了呢的]+$"
)
# Words that say how one likes it and not what: the characters beside them are no pair.
_MANNER = re.compile(
    "我们|你们|咱们|喜欢|习惯|偏好|以后|今后|往后|一律|统一|全部|所有|记住|还是|就是|都是|都要|每次|的话|的时候|时候|我|你|都|也|请"
)
# A name, a path or a number says more about what a sentence is about than a word of the language does.
# A pair with one of these in it is mostly a chance of the order of words: 先给结论 and 先说结论 share their noun.
_LIGHT = frozenset("的了吧啊是在和与就都也还很把被给让对着过要会能不没有用先再说讲写放做看来去")
_LIGHT_WEIGHT = 0.25
_NAME_WEIGHT, _WORD_WEIGHT, _BIGRAM_WEIGHT = 1.5, 1.0, 0.6


# A talk is compared with itself, each statement with all before it: it fits, or every look would be in vain.
@lru_cache(maxsize=16384)
def terms(text: str) -> Mapping[str, float]:
    """The terms of a text with their weights."""
    found: dict[str, float] = {}
    for piece in _PIECE.findall(simplified(normal(text))):
        if "\u3400" <= piece[0] <= "\u9fff":
            for run in _MANNER.split(piece):
                for bigram in _bigrams(run):
                    found[bigram] = _LIGHT_WEIGHT if _LIGHT & set(bigram) else _BIGRAM_WEIGHT
        elif piece not in _EMPTY and (len(piece) > 1 or piece.isdigit()):
            named = bool(re.search(r"[\d_./:@#+]", piece))
            found[_stem(piece)] = _NAME_WEIGHT if named else _WORD_WEIGHT
    return found


def likeness(one: str, other: str) -> float:
    """From 0 to 1: the shared weight over the mean of the two, between Dice and containment."""
    a, b = terms(one), terms(other)
    if not a or not b:
        return float(normal(one) == normal(other))
    if a.keys().isdisjoint(b):  # as most pairs are
        return 0.0
    shared = sum(weight for term, weight in a.items() if term in b)
    heavy, light = max(sum(a.values()), sum(b.values())), min(sum(a.values()), sum(b.values()))
    return shared / (0.3 * heavy + 0.7 * light) if light else 0.0


def shared_weight(one: str, other: str) -> float:
    """The weight of the terms that both texts have: 1.0 is one word."""
    a, b = terms(one), terms(other)
    return sum(weight for term, weight in a.items() if term in b)


@lru_cache(maxsize=16384)
def values(text: str) -> frozenset[str]:
    """The numbers, versions and codes of a text: where two like sentences differ in them, one corrects the other."""
    return frozenset(term for term in terms(text) if _VALUE.search(term))


def _bigrams(run: str) -> list[str]:
    run = _FILLING.sub("", run)
    if len(run) < 2:
        return []
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [p for p in pairs if p not in _EMPTY_CHINESE and not (p[0] in _FUNCTION and p[1] in _FUNCTION)]


def _stem(word: str) -> str:
    """Plural and verb endings off: enough for comparing, not for showing."""
    if not word.isalpha() or len(word) < 4:
        return word
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word


# A preference is said in other words each time; measured on pairs of our own corpus.
SAME_TASTE = 0.55


def same_taste(one: str, other: str) -> bool:
    """True if two sentences tell the same preference."""
    return normal(one) == normal(other) or likeness(one, other) >= SAME_TASTE
