"""Whether a text really stands among the user's own words of a session, so that it may be kept as theirs.

A model that calls `remember` may pass what it read in a file, or half of a sentence: "use npm" of "never use npm". So
the text must be whole sentences that the user typed, and none that the user only showed (pasted, quoted, fenced). What
leads into them ("please remember that …") may be left out, and so may what does not count in the normal form.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from catmem.distil.rulebook import phrase
from catmem.distil.units import Unit, units_of
from catmem.distil.wording import worded
from catmem.domain.memory import normal
from catmem.domain.message import Message

# What is asked to be remembered together is a few sentences.
_MOST_SENTENCES = 8

# How people ask for it, beyond the leads that distilling knows: these need no comma after them.
_ASKING = (
    r"(?:(?:please|pls|ok|okay|hey|can you|could you|will you|would you|i want you to|i'd like you to|you should)[\s,]+)*"
    r"(?:(?:always|also)\s+)?(?:remember|memori[sz]e|note(?: down)?|write down|save|store|keep in mind|bear in mind|"
    r"don'?t forget)(?:\s+(?:this|that|it|to memory|in memory|for (?:me|later|next time|the future)))*\s*[:,.—–-]*\s+",
    r"(?:请|請|帮我|幫我|麻烦(?:你)?|给我|你要?|以后都?|今后都?)*(?:记住|記住|牢记|记一?下来?|記一?下來?|记下来?|記下來?|记得|記得|"
    r"别忘了?|別忘了?|不要忘记)(?:一下|了|这一?点|这件事|这个)*\s*[：:，,。—-]*\s*",
)


def where_said(text: str, messages: Iterable[Message]) -> Message | None:
    """The newest of the user's messages in which `text` stands as the user's own words."""
    wanted = normal(text)
    if not wanted:
        return None
    newest = None
    for message in messages:
        if message.role == "user" and _is_said(wanted, message.content):
            newest = message
    return newest


def _is_said(wanted: str, content: str) -> bool:
    # Whatever is cut away, the text must be there as a whole; most messages are done with by this.
    if wanted not in normal(content):
        return False
    units = units_of(content)
    if units and all(unit.own for unit in units) and normal(content) == wanted:
        return True
    return any(wanted == normal(said) for said in _statements(units, content))


def _statements(units: list[Unit], content: str) -> Iterator[str]:
    """What a user can be said to have said: each own sentence, without its lead too, and several of them in a row."""
    for first, unit in enumerate(units):
        starts = [unit.start + cut for cut in _leads(unit.text)]
        for last in units[first : first + _MOST_SENTENCES]:
            if not last.own:
                break
            for start in starts:
                yield content[start : last.end]
        if unit.own:
            yield from worded(unit.text)


def _leads(text: str) -> list[int]:
    """Where a sentence may be said to begin: at its beginning, and behind each lead."""
    begins, at = [0], 0
    while found := _asking().match(text, at) or phrase("leading").match(text[at:]):
        at = found.end() if found.re is _asking() else at + found.end()
        if at in begins or at >= len(text):
            break
        begins.append(at)
    return begins


@cache
def _asking() -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in _ASKING), re.IGNORECASE)
