"""What a query asks for (hot path): its tokens for the index, and its units, the words that a reader would count."""

from __future__ import annotations

import functools
import math

from catmem.recall.moments import Moment, Span, moments_in
from catmem.text.concepts import Bridge, bridges
from catmem.text.simplified import simplified
from catmem.text.stemming import stem
from catmem.text.tokens import query_tokens, stopwords, words_of_the_trade

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Function words help where two texts are else alike, and must not decide which is better. Between 0.1 and 0.6 three
# public sets of questions differ by less than 2 points of hit@10; in a handful of memories, where "the" is rare, less
# is better.
_STOPWORD_WEIGHT = 0.2
# One that may be a name, beside a telling word, is small talk as often as not.
_TRADE_WEIGHT = 0.5
# An identifier is one word, which its parts make no three of.
_PART_WEIGHT = 0.5
# What is said twice is meant more, but not twice as much.
_REPEATED = 0.5
# A pasted log has thousands of tokens; the first ones are as telling as all.
_MOST_TOKENS = 400
# A Chinese word has at most four characters; a longer run is a sentence.
_PAIRS_OF_A_WORD = 3


class Query:
    """`said` are the tokens in a row, `terms` each once with its weight, `units` the words with what they are made of.

    An identifier is one unit: itself whole, then its parts. A run of Chinese is one unit too, of its overlapping
    pairs: where its words end is not known. Stopwords are in no unit, so small talk has none.
    """

    __slots__ = ("_bridges", "everything", "moments", "said", "terms", "text", "units")

    def __init__(self, text: str) -> None:
        self.text = text
        said = query_tokens(text)
        self.said = said[:_MOST_TOKENS]
        self.everything = list(dict.fromkeys(said))[:_MOST_TOKENS]
        meant, ignored = _meant(said), stopwords()
        telling = [token for token in self.everything if token not in ignored or token in meant]
        light = dict.fromkeys(ignored.intersection(said), _STOPWORD_WEIGHT) if telling else {}
        light.update(dict.fromkeys(meant, _TRADE_WEIGHT))
        self.units = _units(telling)
        light.update((part, _PART_WEIGHT) for unit in self.units if not is_pair(unit[0]) for part in unit[1:])
        repeated = _repeated(said)
        self.terms = [(token, light.get(token, 1.0) * repeated.get(token, 1.0)) for token in self.everything]
        self.moments: list[Moment | Span] = [*moments_in(text)]
        self._bridges: list[Bridge] | None = None

    @property
    def is_one_word(self) -> bool:
        return len(self.units) == 1 and not (is_pair(self.units[0][0]) and len(self.units[0]) > _PAIRS_OF_A_WORD)

    @property
    def bridges(self) -> list[Bridge]:
        """The concepts that it names; found when first asked for."""
        if self._bridges is None:
            self._bridges = bridges(self.said)
        return self._bridges


def _repeated(said: list[str]) -> dict[str, float]:
    """The weights of the tokens that a query has more than once."""
    times: dict[str, int] = {}
    for token in said:
        times[token] = times.get(token, 0) + 1
    return {token: 1 + _REPEATED * math.log(count) for token, count in times.items() if count > 1}


def _meant(said: list[str]) -> set[str]:
    """The stopwords that stand beside a telling word, and so may be the name of something: "go version", "http get"."""
    names, ignored = words_of_the_trade(), stopwords()
    if names.isdisjoint(said):
        return set()
    meant = set()
    for before, token, after in zip(["", *said], said, [*said[1:], ""], strict=False):
        if token in names and token not in before:  # no part of the identifier before it
            meant |= {token} if any(beside and beside not in ignored for beside in (before, after)) else set()
    return meant


def as_typed(matched: Iterable[str], query: str) -> list[str]:
    """Tokens are folded and stemmed; people know their words as they typed them."""
    folded = simplified(query)
    typed: dict[str, str] = {}
    for word in query.split():
        for token in query_tokens(word)[:1]:
            typed.setdefault(token, word.strip(".,;:!?()[]\"'`。，；：！？（）“”‘’"))
    return [
        typed.get(token, token) if token.isascii() else _slice(query, folded.find(token), len(token)) or token
        for token in matched
    ]


def _slice(text: str, start: int, length: int) -> str:
    return text[start : start + length] if start >= 0 else ""


def is_pair(token: str) -> bool:
    """True for two characters of a script without blanks."""
    return len(token) == 2 and token[0] >= "\u0e00" and token[1] >= "\u0e00"


def _units(tokens: list[str]) -> list[list[str]]:
    """Groups what `query_tokens` has put in a row: overlapping pairs, and a whole followed by its parts."""
    units: list[list[str]] = []
    for token in tokens:
        before = units[-1] if units else None
        if before and _belongs(token, before):
            before.append(token)
        else:
            units.append([token])
    return units


def _belongs(token: str, unit: list[str]) -> bool:
    if is_pair(token):
        return is_pair(unit[-1]) and unit[-1][1] == token[0]
    return not is_pair(unit[0]) and len(token) < len(unit[0]) and token in unit[0]


@functools.cache
def weak_words() -> frozenset[str]:
    from catmem.recall import weak_words as words

    return frozenset({stem(word) for word in words.ENGLISH.split()} | set(words.CHINESE.split()))
