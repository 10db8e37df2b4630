"""What people type to search with beyond words: "phrases", and -words to leave out."""

from __future__ import annotations

import re
from typing import NamedTuple

from catmem.index.documents import Record
from catmem.recall.rank import words_of
from catmem.text.simplified import simplified
from catmem.text.tokens import query_tokens

_PHRASE = re.compile(r'"([^"]+)"|“([^”]+)”|「([^」]+)」|『([^』]+)』')
# A letter alone is an option of a command (`pytest -q`), and -- is more than a minus.
_WITHOUT = re.compile(r"(?:^|(?<=\s))-(?=[^\s-])((?:[A-Za-z][\w.]{2,})|(?:[^\W\d_a-zA-Z]\w*))")


class Typed(NamedTuple):
    """`words` are what to look for; `phrases` must stand in a text; a text with one of `without` is left out, unless it
    has the query `as_it_is`, which was copied then and not meant so."""

    words: str
    phrases: tuple[str, ...]
    without: tuple[tuple[str, ...], ...]
    as_it_is: str = ""

    def sift(self, hits: list[Record]) -> list[Record]:
        """The hits as they were asked for. Where no text has a phrase, the words of it are better than nothing."""
        kept = [hit for hit in hits if not self._leaves_out(hit)]
        exact = [hit for hit in kept if all(phrase in _spaced(hit["text"]) for phrase in self.phrases)]
        return exact or kept

    def _leaves_out(self, hit: Record) -> bool:
        return any(_has(hit, word) for word in self.without) and self.as_it_is not in _spaced(hit["text"])


def typed(query: str) -> Typed:
    """Reads a query. Of one that only leaves out, and so asks for nothing, every word is looked for."""
    words = _WITHOUT.sub(" ", query)
    phrases = tuple(
        _spaced(next(filter(None, found))) for found in _PHRASE.findall(words) if any(map(str.strip, found))
    )
    if not query_tokens(words):
        return Typed(query, phrases, ())
    without = (tuple(query_tokens(word)) for word in _WITHOUT.findall(query))
    return Typed(words, phrases, tuple(filter(None, without)), _spaced(query))


def _has(hit: Record, word: tuple[str, ...]) -> bool:
    words = words_of(hit)
    return all(token in words for token in word)


def _spaced(text: str) -> str:
    return " ".join(simplified(text).casefold().split())
