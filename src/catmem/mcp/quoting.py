"""Recalled text as a model gets it: within the tag of our briefs, so that it is known for quoted data, and bounded."""

from __future__ import annotations

import re

from catmem.brief.words import CLOSING, OPENING, WORDS
from catmem.text.cut import ELLIPSIS, cut_bytes
from catmem.text.encoding import printable
from catmem.text.private import OUR_TAG

# Bytes of one answer. Claude Code warns from 10,000 tokens on; of Chinese this is about 8,000.
LONGEST_ANSWER = 16_000

_TAG = re.compile(rf"<(?=\s*/?\s*{OUR_TAG})", re.IGNORECASE)
_ANY_TAG = re.compile(r"<(?=[/!?A-Za-z|])")


def fenced(body: str, language: str) -> str:
    """Recalled text with the sentence that says what it is."""
    return f"{OPENING}\n{WORDS[language]['before']}\n{body}\n{CLOSING}"


def on_one_line(text: str, longest: int = 0) -> str:
    """Without line ends, controls and tags; shortened to `longest` bytes, if that is given."""
    flat = _ANY_TAG.sub("\u2039", printable(" ".join(text.split())))
    cut = cut_bytes(flat, longest) if longest else flat
    return flat if cut == flat else cut.rstrip() + ELLIPSIS


def as_it_was(text: str) -> str:
    """Lines stay lines; what could end our fence or drive a terminal is made visible instead."""
    return _TAG.sub("\u2039", printable(text))
