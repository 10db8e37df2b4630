"""What a sentence says fills a slot, and what it says goes: "tests run on vitest now, we threw jest out"."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from catmem.distil.rulebook import plain


@dataclass(frozen=True, slots=True)
class Slot:
    """A kind of choice. `words` tell that a sentence is about it; `members` map a name to its family."""

    name: str
    single: bool
    words: re.Pattern[str]
    members: Mapping[str, str]
    found: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Filling:
    """One slot in one sentence: its values in force, and those that are said to go or are refused.

    `subject` is the slot with its family and the part of the project that it holds for; `named` tells that the sentence
    speaks of the slot itself and not only of a member.
    """

    slot: Slot
    subject: str
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    named: bool


@cache
def load_slots() -> tuple[Slot, ...]:
    """The lexicon of the package; read and compiled once a process."""
    text = (files("catmem.distil") / "rules" / "slots.toml").read_text("utf-8")
    return tuple(_slot(row) for row in tomllib.loads(text)["slot"])


def fillings(text: str) -> list[Filling]:
    """Every slot that a sentence speaks of by one of its members."""
    sentence = plain(text)
    part = _part(sentence)
    found: list[Filling] = []
    for slot in load_slots():
        by_family: dict[str, tuple[list[str], list[str]]] = {}
        for name, start, end in _mentions(slot, sentence):
            kept, dropped = by_family.setdefault(slot.members[name], ([], []))
            (dropped if _goes(sentence, start, end) else kept).append(name)
        named = bool(slot.words.search(sentence))
        for family, (kept, dropped) in by_family.items():
            if named or slot.name not in _AMBIGUOUS:
                subject = " ".join(word for word in (part, family if family != "any" else "", slot.name) if word)
                staying = tuple(dict.fromkeys(k for k in kept if k not in dropped))
                found.append(Filling(slot, subject, staying, tuple(dict.fromkeys(dropped)), named))
    return found


# Members of these are everyday words too ("main", "english", "tabs"): the sentence has to name the slot.
_AMBIGUOUS = frozenset(
    {"branch base", "indentation", "answer language", "commit language", "hosting", "API style", "object storage", "logging",
     "type checker", "bundler", "HTTP client"}
)  # fmt: skip

_PARTS = (
    ("e2e", re.compile(r"\be2e\b|end[- ]to[- ]end|\bui tests?\b|端到端|界面测试", re.IGNORECASE)),
    ("frontend", re.compile(r"\bfront-?end\b|前端|\bweb client\b", re.IGNORECASE)),
    ("backend", re.compile(r"\bback-?end\b|后端|後端|服务端", re.IGNORECASE)),
    ("CI", re.compile(r"\b(?:on|in) ci\b|CI (?:上|里|用)|流水线", re.IGNORECASE)),
    ("production", re.compile(r"\bprod(?:uction)?\b|线上|生产|線上", re.IGNORECASE)),
    ("local", re.compile(r"\blocal(?:ly)?\b|\bmy (?:laptop|machine)\b|本地|本机", re.IGNORECASE)),
    ("staging", re.compile(r"\bstaging\b|预发|測試環境|测试环境", re.IGNORECASE)),
)


def _part(sentence: str) -> str:
    return next((name for name, pattern in _PARTS if pattern.search(sentence)), "")


def _mentions(slot: Slot, sentence: str) -> Iterator[tuple[str, int, int]]:
    for match in slot.found.finditer(sentence):
        yield match.group().lower(), match.start(), match.end()


# What stands right before or after a name that is refused, thrown out or left behind.
_BEFORE = re.compile(
    r"(?:\b(?:no|not|never|without|instead of|rather than|in place of|than|from|off|away from|drop(?:ped|ping)?|ditch(?:ed|ing)?|"
    r"replac(?:e|ed|ing)|threw|throwing|kick(?:ed)?|remov(?:e|ed|ing)|retir(?:e|ed|ing)|kill(?:ed)?|abandon(?:ed)?|left|leaving|"
    r"don't use|do not use|dont use|stop using|stopped using|no longer use|got rid of|goodbye to|over|done with)"
    r"(?: (?:the|our|plain|old|on|using|with|any))*|"
    r"(?:不用|不走|不放|不存|不再用|不再|别用|別用|别再用|不要用|弃用|放弃|淘汰|从|從|替换|替代|取代|而不是|不上|不是|早就不用|不能用|禁止用|别直接|不许用|不准用)(?:\s?[\w阿里云腾讯华为]{0,6})?)\s*[`\"“]?$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"^[`\"”]?\s*(?:(?:is|are|was|were|got|has been)?\s*(?:out\b|gone\b|dead\b|dropped|retired|removed|history\b|no longer|not used|"
    r"thrown|over\b|deprecated|forbidden|banned)|(?:folder|stuff|code|setup|one|config)? ?gets? (?:deleted|dropped|removed)|"
    r"[^，,。;；]{0,8}(?:不用了|我们不用|不再用|废弃|作废|早就?删|删了|下线|停了|停用|淘汰|退役|不要了|撤了|不放|不走了|的路线放弃|放弃))",
    re.IGNORECASE,
)


def _goes(sentence: str, start: int, end: int) -> bool:
    if _AFTER.match(sentence[end : end + 30]):
        return True
    return bool(_BEFORE.search(sentence[max(0, start - 30) : start]))


def _slot(row: Mapping[str, object]) -> Slot:
    families = row["members"]
    assert isinstance(families, dict)
    members = {name.lower(): family for family, names in families.items() for name in names}
    words = row["words"]
    assert isinstance(words, list)
    return Slot(str(row["name"]), bool(row["single"]), _bounded(words), members, _bounded(map(re.escape, members)))


def _bounded(patterns: Sequence[str] | Iterator[str]) -> re.Pattern[str]:
    """The patterns as whole words; Chinese has no word ends, and Latin words in Chinese text have none either."""
    longest_first = sorted(patterns, key=len, reverse=True)
    return re.compile(
        r"(?<![A-Za-z0-9_/.-])(?:" + "|".join(longest_first) + r")(?![A-Za-z0-9_/-]|\.[a-z])", re.IGNORECASE
    )
