"""From a sentence to the words of a memory: selected, never rewritten.

What leads into the sentence and has no part in it is left out ("hm. ok so," · 对，), a task hung on its end as well, and
several rules in one sentence are parted where each can stand alone.
"""

from __future__ import annotations

import re

from catmem.distil.rulebook import phrase

# A memory that is longer is a paragraph; what cannot be cut to it is cut at the last stop before it.
LONGEST = 300

_BRACKETS = {"(": ")", "（": "）", "[": "]", "{": "}", "「": "」", "“": "”"}
# What a part needs to stand alone: about four English words, or six Chinese characters.
_LEAST_WIDTH = 12


def worded(text: str, *, whole: bool = False) -> list[str]:
    """The statements of one kept sentence, each at most `LONGEST` characters. With `whole` they are not parted: a
    sentence that tells what it replaces is one statement."""
    core = _without_tail(_without_lead(text))
    parts = [core] if whole else _parted(core)
    return [part if len(part) <= LONGEST else _cut(part) for part in parts]


def _without_lead(text: str) -> str:
    core = text.strip()
    while found := phrase("leading").match(core):
        rest = core[found.end() :].lstrip()
        if _width(rest) < _LEAST_WIDTH:
            break
        core = rest
    return core


def _without_tail(text: str) -> str:
    found = phrase("trailing").search(text)
    if found and _width(text[: found.start()]) >= _LEAST_WIDTH:
        return text[: found.start()].rstrip()
    return text


def _parted(text: str) -> list[str]:
    """The rules of a list in one sentence, or the sentence itself."""
    head = phrase("heading").match(text)
    if head:
        parts = _pieces(text[head.end() :], ",;，；、" if _CJK.search(text) else ",;")
        if len(parts) > 1 and all(_stands(part) for part in parts):
            return parts
    parts = _pieces(text, ";；")
    return parts if len(parts) > 1 and all(_stands(part) for part in parts) else [text]


_CJK = re.compile(r"[\u3400-\u9fff]")


def _pieces(text: str, stops: str) -> list[str]:
    """`text` cut at `stops` outside of brackets."""
    pieces, current, closing = [], "", list[str]()
    for char in text:
        if char in _BRACKETS:
            closing.append(_BRACKETS[char])
        elif closing and char == closing[-1]:
            closing.pop()
        if char in stops and not closing:
            pieces.append(current)
            current = ""
        else:
            current += char
    pieces.append(current)
    return [phrase("joining").sub("", piece.strip()).strip(" .。") for piece in pieces if piece.strip(" .。")]


def _stands(part: str) -> bool:
    return _width(part) >= _LEAST_WIDTH and not phrase("hanging").match(part)


def _width(text: str) -> int:
    return sum(1 if c.isascii() else 2 for c in text)


def _cut(text: str) -> str:
    """The beginning of a run-on sentence, to the last clause that ends in time."""
    head = text[:LONGEST]
    stop = max(head.rfind(mark) for mark in ",;，；、")
    return head[:stop] if stop > LONGEST // 3 else head[: LONGEST - 1].rsplit(" ", 1)[0] + "…"
