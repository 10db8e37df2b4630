"""How long is a text for a model, and how to shorten it without breaking a character or a line."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from math import ceil

ELLIPSIS = "…"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


# --- tokens ---------------------------------------------------------------------------------------------------------


# What one piece costs, in tokens. Fitted so that the sum is not below cl100k_base (GPT-4), o200k_base (GPT-4o) or
# Qwen's and Llama's habit of splitting digits one by one, on prose, code, JSON, logs, Chinese, Japanese, Korean,
# Russian, Arabic, Thai and emoji (measured with gpt-tokenizer 4.0.0). Prose comes out some 15-25 % high: a brief that
# is too short costs a line, one that is too long costs the whole brief.
_PIECES = (
    r"(?P<word>[A-Za-z]+)|(?P<digits>[0-9]+)|(?P<blank>[ \t]{2,}|[\r\n]+[ \t]*)|(?P<same>([!-/:-@\[-`{-~])\5+)"
    r"|(?P<mark>[!-/:-@\[-`{-~])|(?P<han>[\u3400-\u9fff]+)|(?P<kana>[\u3000-\u30ff\uff00-\uffef]+)"
    r"|(?P<hangul>[\uac00-\ud7af]+)|(?P<letters>[\u00a1-\u052f]+)|(?P<astral>[\U00010000-\U0010ffff]+)"
    r"|(?P<other>[^\x00-\x7f])"
)
_PER_CHARACTER = {"han": 1.35, "kana": 1.3, "hangul": 1.6, "letters": 0.65, "other": 1.4, "astral": 3.3}


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a model counts for `text`, with a margin upwards; see `_PIECES` for the source."""
    total = 0.0
    for match in _compiled(_PIECES).finditer(text):
        kind, length = match.lastgroup, match.end() - match.start()
        if kind == "word":
            total += _word_cost(match[0], length)
        elif kind == "digits":
            total += 0.4 + 0.6 * length
        elif kind in _PER_CHARACTER:
            total += _PER_CHARACTER[kind] * length
        elif kind == "mark":
            total += 0.9
        else:  # runs of blanks or of one mark are merged, some sixteen to a token
            total += 1.0 + length / 16
    return ceil(total)


def _word_cost(word: str, length: int) -> float:
    """A common word is one token, a long one two or three; letters at random (keys, hashes) two to a token."""
    if word.islower() or word.istitle():
        return 1.1 if length < 8 else 1.1 + (length - 7) / 5
    if word.isupper():
        return 0.7 + length / 4
    turns = sum(before.islower() and after.isupper() for before, after in pairwise(word))
    return 1.1 + turns + length / 4


# --- cutting --------------------------------------------------------------------------------------------------------

_ZWJ = "\u200d"


def cut_bytes(text: str, limit: int) -> str:
    """The longest beginning of `text` of at most `limit` bytes of UTF-8 that ends with a line, else with a grapheme."""
    if limit <= 0:
        return ""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= limit:
        return text
    while limit and raw[limit] & 0xC0 == 0x80:  # inside a character
        limit -= 1
    return _ended(text, len(raw[:limit].decode("utf-8", "surrogatepass")))


def cut_tokens(text: str, limit: int) -> str:
    """The longest beginning of `text` of at most `limit` estimated tokens, ended like that of `cut_bytes`."""
    if limit <= 0:
        return ""
    if estimate_tokens(text) <= limit:
        return text
    low, high = 0, min(len(text), limit * 16)  # no estimate gives more than 16 characters for a token
    while low < high:
        middle = (low + high + 1) // 2
        if estimate_tokens(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    end = len(_ended(text, low))
    while end and estimate_tokens(text[:end]) > limit:  # a cut word may cost more than its longer self
        end = _boundary(text, end - 1)
    return text[:end]


def preview(text: str, width: int = 80) -> str:
    """One line of at most `width` columns (East Asian letters take two), blanks folded, with … where it was cut."""
    line = " ".join(text[: width * 20].split())
    room, end, used = width - 1, 0, 0
    for place, letter in enumerate(line):
        used += _columns(letter)
        if used <= room:
            end = place + 1
        elif used > width:
            return line[: _boundary(line, end)].rstrip() + ELLIPSIS if width > 0 else ""
    return line


def _columns(letter: str) -> int:
    if letter.isascii():
        return 1
    if unicodedata.combining(letter) or letter in (_ZWJ, "\ufe0f", "\ufe0e"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _ended(text: str, length: int) -> str:
    """Cut `text` to at most `length` characters: at the last line end in it, else at a grapheme boundary."""
    if length >= len(text):
        return text
    if text[length] == "\n" and length and text[length - 1] != "\r":
        return text[:length]
    line_end = text.rfind("\n", 0, length)
    if line_end > 0 and text[:line_end].strip():
        return text[: line_end - 1] if text[line_end - 1] == "\r" else text[:line_end]
    return text[: _boundary(text, length)]


def _boundary(text: str, place: int) -> int:
    """The last grapheme boundary at or before `place` (the rules of UAX 29 that matter for cutting)."""
    while 0 < place < len(text) and not _may_break(text, place):
        place -= 1
    return place


def _may_break(text: str, place: int) -> bool:
    before, after = text[place - 1], text[place]
    if before.isascii() and after.isascii():
        return not (before == "\r" and after == "\n")
    if after == _ZWJ or before == _ZWJ or _extends(after) or "\udc00" <= after <= "\udfff":
        return False
    if _is_flag(before) and _is_flag(after):
        start = place
        while start and _is_flag(text[start - 1]):
            start -= 1
        return (place - start) % 2 == 0
    if "\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff":  # Hangul letters of one syllable
        return False
    return unicodedata.combining(before) != 9  # a virama joins the next consonant


def _extends(letter: str) -> bool:
    """Does it belong to the character before it: marks, variation selectors, skin tones, tags of sub-flags?"""
    if "\U0001f3fb" <= letter <= "\U0001f3ff" or "\U000e0020" <= letter <= "\U000e007f":
        return True
    return unicodedata.category(letter) in ("Mn", "Mc", "Me")


def _is_flag(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"
