"""Traditional Chinese meets simplified (hot path): of the characters that stand for one another, one stands for all.

後 and 后, 髮 發 and 发, 乾 幹 and 干 become one each, which parts no two words that a search would want apart: most words
have a second character. Length and places stay. Japanese and Korean texts are folded alike, so they still meet
themselves.
"""

from __future__ import annotations

import itertools
from functools import cache, lru_cache

# Of a word of more characters the many spellings are not told.
_MOST_TOLD = 4


class _Forms(dict[int, str]):
    """From a character to the one that stands for it; looked up when first met, since a prompt has a few of thousands."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        row = _row(character)
        self[code] = found = row[0] if row else character
        return found


_FORMS = _Forms()


def simplified(text: str) -> str:
    return text.translate(_FORMS)


@lru_cache(maxsize=4096)
def spellings(word: str) -> tuple[str, ...]:
    """Every way to write a word of a few characters, the simplified one first; a longer one only as it is."""
    if len(word) > _MOST_TOLD:
        return (word,)
    return tuple(map("".join, itertools.product(*(_row(character) or character for character in word))))


def _row(character: str) -> str:
    """The characters that are one with it, the simplified one first; "" where it has no others."""
    rows = _rows()
    place = rows.find(character)
    return rows[rows.rindex(" ", 0, place) + 1 : rows.index(" ", place)] if place > 0 and character > " " else ""


@cache
def _rows() -> str:
    """Each between two blanks."""
    from catmem.text.chinese_forms import FORMS

    return FORMS.replace("\n", " ")
