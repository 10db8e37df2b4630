"""Is a text about the query at all? A number in 0..1 that `semantic_match_threshold` is held against (hot path).

Two things speak for it. The share of the query that the text covers, each word counting by its rarity; and what was
met, however long the query is: one rare identifier (an error code) in a long message is as good as two ordinary words.
Chance speaks against it: in a long message, a pasted log, some words are met in any text.

The constants were set on tests/recall/pools.py, where each wanted fact then is above 0.35 and each unrelated one
below; a test holds them there.
"""

from __future__ import annotations

import itertools
import math

from catmem.recall.query import Query, is_pair, weak_words
from catmem.text.tokens import words_of_the_trade

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from catmem.text.concepts import Bridge

# Rarity is judged as if there were so many more texts: among 30 memories no word is rare or common by itself.
_PRIOR_TEXTS = 200
# How much counts of a word that is seldom about one thing or has one character, and of a number by its length.
_WEAK = 0.25
_NUMBER, _SMALL_NUMBER = 0.4, 0.15
# Of a word that is mostly small talk and now and then a name: go, make.
_MAYBE_A_NAME = 0.5
# A pair with one of these is the end or the beginning of a word, never one.
_GLUE = frozenset("的了们吗呢吧个这那么")
# A pair that no text has is half the time not a word but the end of one and the beginning of the next.
_UNKNOWN_PAIR = 0.6
# Below the weight of one word of its own, only weak words were met, and a few of them are not one.
_LEAST, _WEAK_ALONE = 0.5, 0.7
# Parts of an identifier without the whole.
_PARTS = 0.5
# Another word for the same thing, in the same language or the other.
_AKIN = 0.9
# Coverage is of the query's words and of so many more: one weak word is no full coverage of itself.
_UNSAID = 0.75
# Evidence saturates: 3.0 gives one ordinary word 0.24 and two 0.42; 1.6 gives one identifier 0.40.
_WORDS_NEEDED = 3.0
_IDENTIFIERS_NEEDED = 1.6
# From so many words on, words met by chance are expected; each doubling asks for as much again.
_LONG_QUERY = 8.0


class Relevance:
    """The measure for one query in one index: `count` texts, of which `frequency[token]` have a token."""

    __slots__ = ("_spans", "_total", "_units", "_weights")

    def __init__(self, query: Query, count: int, frequency: Mapping[str, int], spans: Sequence[Bridge] = ()) -> None:
        """`spans` are the concepts whose other words count, too; `frequency` has those words then."""
        texts = count + _PRIOR_TEXTS
        rarest = math.log(1 + (texts + 0.5) / 0.5)
        weak = weak_words()
        self._units = query.units
        self._weights = {
            token: _rarity(texts, frequency.get(token, 0)) / rarest * _worth(token, weak, frequency.get(token, 0))
            for token in itertools.chain(*query.units, *(written for span in spans for _, written in span.others))
        }
        self._spans = spans
        self._total = sum(self._mass(unit) for unit in self._units)

    def of(self, words: Container[str]) -> tuple[float, list[str], float]:
        """The relevance of a text with these tokens, the words of the query that it has, and the share of the query
        that it has only in other words for the same thing."""
        ordinary = identifiers = akin = 0.0
        met: list[str] = []
        bridged = self._bridged(words, met) if self._spans else {}
        for unit in self._units:
            matched = [token for token in unit if token in words]
            if bridged and not (matched and len(unit) > 1 and not is_pair(unit[0])):
                akin += self._akin(unit, matched, bridged)
            if not matched:
                continue
            met.extend(_spelled(matched))
            if is_pair(unit[0]) or len(unit) == 1:
                ordinary += self._mass(matched)
            elif unit[0] in matched:
                identifiers += self._weights[unit[0]]
            else:
                ordinary += self._mass(matched) * _PARTS
        if not met:
            return 0.0, met, 0.0
        ordinary += akin
        if ordinary + identifiers < _LEAST:
            ordinary *= _WEAK_ALONE
        coverage = min(1.0, (ordinary + identifiers) / (self._total + _UNSAID))
        chance = 1 + max(0.0, math.log2(self._total / _LONG_QUERY))
        evidence = 1 - math.exp(-ordinary / (_WORDS_NEEDED * chance) - identifiers / _IDENTIFIERS_NEEDED)
        return coverage + (1 - coverage) * evidence, met, akin and min(1.0, akin / self._total)

    def _bridged(self, words: Container[str], met: list[str]) -> dict[str, float]:
        """The tokens of the query that the text has in another word, with what they count; adds those words to `met`."""
        found: dict[str, float] = {}
        for span in self._spans:
            if all(token in words for token in span.said):
                continue
            for word, written in span.others:
                if all(token in words for token in written):
                    met.append(word)
                    worth = _AKIN * max(self._weights[token] for token in written)
                    for token in span.said:
                        found[token] = max(
                            found.get(token, 0.0), min(worth, self._weights.get(token, 0.0) / _UNKNOWN_PAIR)
                        )
                    break
        return found

    def _akin(self, unit: list[str], matched: list[str], bridged: Mapping[str, float]) -> float:
        weights = [bridged[token] for token in unit if token in bridged and token not in matched]
        if not weights:
            return 0.0
        return (sum(weights) + sum(weights) / len(weights)) / 2 if is_pair(unit[0]) else max(weights)

    def _mass(self, tokens: list[str]) -> float:
        """A word weighs as its most telling token; k overlapping pairs are (k + 1) / 2 words."""
        weights = [self._weights[token] for token in tokens]
        if is_pair(tokens[0]):
            return (sum(weights) + sum(weights) / len(weights)) / 2
        return max(weights)


def _rarity(texts: int, frequency: int) -> float:
    return math.log(1 + (max(texts - frequency, 0) + 0.5) / (frequency + 0.5))


def _worth(token: str, weak: Container[str], frequency: int) -> float:
    if token.isdigit():
        return _NUMBER if len(token) > 2 else _SMALL_NUMBER
    if token in weak or len(token) == 1 or (is_pair(token) and not _GLUE.isdisjoint(token)):
        return _WEAK
    if token in words_of_the_trade():
        return _MAYBE_A_NAME
    return _UNKNOWN_PAIR if frequency == 0 and is_pair(token) else 1.0


def _spelled(matched: list[str]) -> list[str]:
    """Overlapping pairs as the run they come from; of an identifier its whole."""
    if not is_pair(matched[0]):
        return matched[:1]
    runs = [matched[0]]
    for pair in matched[1:]:
        if runs[-1][-1] == pair[0]:
            runs[-1] += pair[1]
        else:
            runs.append(pair)
    return runs
