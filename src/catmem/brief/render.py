"""From chosen memories to lines of text that no memory can break out of (hot path)."""

from __future__ import annotations

import re

from catmem.brief.earlier import is_past
from catmem.brief.words import WORDS
from catmem.text.cut import ELLIPSIS, cut_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from catmem.index.documents import Record

# Bytes. A memory is a sentence; what is longer is shortened, and so is a passage, which may be a page.
_LONGEST = {"memory": 600, "passage": 400}
_LONGEST_SUCCESSOR = 200
# When something was said matters for what was true then, not for how things are done.
_DATED = frozenset({"decision", "progress", "note", "question", "user", "assistant"})


def heading(section: str, language: str) -> str:
    return WORDS[language][section]


def line(record: Record, language: str) -> str:
    """One memory or passage as one line: `- (2026-03-01) We moved to uv`."""
    text = _shortened(_harmless(record["text"]), _LONGEST[record["type"]])
    if is_past(record):
        return f"- {_no_longer(record, text, WORDS[language])}"
    words = WORDS[language]
    if record["type"] == "passage":
        text = words["quote"].format(words[record["kind"]], text)
    elif record.get("by") == "assistant":
        text = words["noted"].format(text)
    # The day in UTC, as the stamp has it: the bytes must not depend on the zone of the machine.
    day = f"({record['at'][:10]}) " if record["kind"] in _DATED and record["at"] else ""
    return f"- {day}{text}"


def _no_longer(record: Record, text: str, words: dict[str, str]) -> str:
    """A statement of the past, which nobody must take for one that holds: when it held, and what holds today."""
    told = words["past"].format(record["from"][:10] or "?", record["to"][:10] or "?", text)
    now = _shortened(_harmless(record.get("now", "")), _LONGEST_SUCCESSOR)
    return f"{told}{words['since'].format(now)}" if now else told


def _harmless(text: str) -> str:
    """On one line, without controls, and with no angle bracket that could open or close a tag."""
    flat = " ".join(text.split())
    flat = "".join(character for character in flat if character.isprintable())
    return re.sub(r"<(?=[/!?A-Za-z|])", "\u2039", flat)


def _shortened(text: str, length: int) -> str:
    cut = cut_bytes(text, length)
    return text if cut == text else cut.rstrip() + ELLIPSIS
