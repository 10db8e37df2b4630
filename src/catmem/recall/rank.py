"""The order of what was found (hot path): by BM25, moved a little by what a hit counts for.

A hit is a record of the index with what ranking adds: `relevance`, `recency` and `score` in 0..1, and
the `matched` words of the query.
"""

from __future__ import annotations

import functools

from catmem.recall import moments
from catmem.recall.passage_words import PassageWords
from catmem.recall.query import Query, is_pair
from catmem.recall.relevance import Relevance
from catmem.text.tokens import stopwords

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from catmem.index.documents import Record

# What is not about the fit may move a hit by so much at most: with more, 500 newer notes would bury the right one.
_RECENCY_SHARE = 0.15
_CONFIRMATION_STEP, _MOST_CONFIRMATIONS = 0.03, 4
_PINNED = 0.05
# A long message is indexed in pieces; the next best one speaks for the best. With more, length alone would win.
_SECOND_PIECE = 0.2
# A memory that has the query in other words for the same thing stands below one that has its very words. A passage is
# long, and has some word of every concept.
_OTHER_WORDS = 0.6
_MOST_BOOST = (1 + _CONFIRMATION_STEP * _MOST_CONFIRMATIONS) * (1 + _PINNED)
# A memory is a conclusion, a passage the talk that it may come from.
_PASSAGE = 0.9
# Above this share of common words, with no number, name or negation between them, two memories say the same.
_SAME = 0.75
_DAY = 86_400_000
# The least difference of two scores, which are rounded to it.
_STEP = 0.0001
_NEGATING = "no not never none nor dont doesnt isnt cant without 不 没 无 非 别 勿 禁 否 未 莫 勿用"
_NEGATIONS = frozenset(_NEGATING.split())


class Weighing:
    """What hits are weighed by, beside the query.

    now         milliseconds since the epoch
    half_lives  days in which a kind loses half of its recency; kinds not named keep theirs
    threshold   the least relevance, in 0..1
    searched    the query was typed to search with: a hit that has every word of it is wanted, whatever the words
    """

    __slots__ = ("half_lives", "now", "searched", "threshold")

    def __init__(self, now: int, half_lives: Mapping[str, float], threshold: float, searched: bool = False) -> None:
        self.now, self.half_lives, self.threshold, self.searched = now, half_lives, threshold, searched


def rank(hits: Sequence[Record], query: Query, measure: Relevance, weighing: Weighing) -> list[Record]:
    """The hits of one type above the threshold, best first."""
    kept = []
    for hit in hits:
        words = words_of(hit)
        relevance, matched, hit["akin"] = measure.of(words)
        if weighing.searched and query.everything and all(token in words for token in query.everything):
            relevance, matched = 1.0, matched or query.everything
        if relevance >= weighing.threshold and matched:
            hit["relevance"], hit["matched"] = relevance, matched
            kept.append(hit)
    if query.is_one_word:
        kept = _in_its_own_words(kept, query.units[0])
    _support(kept)
    best = max((hit["bm25"] for hit in kept), default=0.0)
    for hit in kept:
        if hit["type"] == "memory":
            hit["bm25"] += _OTHER_WORDS * hit["akin"] * best
    # BM25 orders better than relevance does, but its numbers say nothing: the best is as good as the most relevant.
    scale = max((hit["relevance"] for hit in kept), default=0.0) / max((hit["bm25"] for hit in kept), default=1.0)
    for hit in kept:
        hit["score"] = round(hit["bm25"] * scale * weight_of(hit, query, weighing), 4)
    put_below_successors(kept)
    return sorted(kept, key=order)


def weight_of(hit: Record, query: Query, weighing: Weighing) -> float:
    """What a hit counts for beside its fit, in 0..1: its `recency`, how `timely` it is (both noted in it), who said it."""
    hit["recency"] = _recency(hit, weighing)
    hit["timely"] = 1 + moments.fit(query.moments, hit["instants"]) if query.moments else 1.0
    weight: float = _boost(hit) * hit["timely"] / (_MOST_BOOST * (1 + moments.MOST if query.moments else 1))
    return weight


def order(hit: Record) -> tuple[float, int, str]:
    """Sorts by score; of equals the newer, then the id, so that the order never depends on the index's inner one."""
    return -hit["score"], -max(hit["instants"], default=0), hit["id"]


def fold(hits: Iterable[Record], limit: int) -> list[Record]:
    """The first `limit` hits that say different things; `folded` counts what was left out beneath each.

    What is kept at a limit is the beginning of what is kept at any larger one.
    """
    kept: list[Record] = []
    for hit in hits:
        twin = next((other for other in kept if _say_the_same(other, hit)), None)
        if twin is not None:
            # The sentence that a memory was made from is no second voice for it.
            own = hit["type"] != twin["type"] and hit["session"] == twin["session"]
            twin["folded"] = twin.get("folded", 0) + (not own)
        elif len(kept) == limit:
            break
        else:
            kept.append(hit)
    return kept


def words_of(hit: Record) -> Container[str]:
    """The tokens of a hit, to ask whether one is there; those of a memory are a frozenset."""
    if "word_set" not in hit:
        hit["word_set"] = frozenset(hit["words"].split()) if "words" in hit else PassageWords(hit["text"])
    words: Container[str] = hit["word_set"]
    return words


def _recency(hit: Record, weighing: Weighing) -> float:
    """1 for what was said now, half of it after a half-life; 1 for what does not age."""
    half_life = weighing.half_lives.get("note" if hit["type"] == "passage" else hit["kind"])
    if not half_life or not hit["instants"]:
        return 1.0
    age = max(0, weighing.now - max(hit["instants"])) / _DAY
    return float(0.5 ** (age / half_life))


def _in_its_own_words(hits: list[Record], word: Sequence[str]) -> list[Record]:
    """The hits for a lone word: other words for it are there for when no text has it."""
    own = [hit for hit in hits if any(token in words_of(hit) for token in word)]
    return own or hits


def _support(hits: Sequence[Record]) -> None:
    """Adds to each piece of a message what the best other piece of it has."""
    pieces: dict[tuple[str, str, int], list[Record]] = {}
    for hit in hits:
        if hit["type"] != "memory":
            pieces.setdefault((hit["project"], hit["session"], hit["message_id"]), []).append(hit)
    for of_one in pieces.values():
        if len(of_one) > 1:
            second, best = sorted(hit["bm25"] for hit in of_one)[-2:]
            for hit in of_one:
                hit["bm25"] += _SECOND_PIECE * (second if hit["bm25"] == best else best)


def aging(hit: Record) -> float:
    """What its age has taken of a hit's weight, as a factor."""
    left: float = 1 - _RECENCY_SHARE * (1 - hit["recency"])
    return left


def _boost(hit: Record) -> float:
    boost = aging(hit)
    if hit["type"] == "passage":
        return boost * _PASSAGE
    confirmations: int = min(max(hit["confirmations"] - 1, 0), _MOST_CONFIRMATIONS)
    boost *= 1 + _CONFIRMATION_STEP * confirmations
    return boost * (1 + _PINNED) if hit["pinned"] else boost


def put_below_successors(hits: Sequence[Record]) -> None:
    """What was superseded never stands above what took its place, however well its words fit."""
    live = {hit["id"]: hit["score"] for hit in hits if hit.get("status") == "live"}
    for hit in hits:
        if hit.get("status") == "superseded":
            hit["score"] = max(0.0, min(hit["score"], live.get(hit["successor"], 1.0) - _STEP))


def _say_the_same(first: Record, second: Record) -> bool:
    if "words" in first and "words" in second:
        return alike(first["word_set"], second["word_set"])
    if first["text"].casefold().split() == second["text"].casefold().split():
        return True
    # The passage that a memory was distilled from adds nothing to it.
    return bool(first["session"]) and all(first[name] == second[name] for name in ("project", "session", "message_id"))


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """True for the tokens of two memories that differ in little, and in nothing that changes what is said."""
    if min(len(one), len(other)) < _SAME * max(len(one), len(other)):
        return False
    different = one ^ other
    if len(different) > (1 - _SAME) * len(one | other):
        return False
    ignored = _meaningless()
    return all((_is_dense(token) and token not in _NEGATIONS) or token in ignored for token in different)


@functools.cache
def _meaningless() -> frozenset[str]:
    return stopwords() - _NEGATIONS


def _is_dense(token: str) -> bool:
    return is_pair(token) or (len(token) == 1 and token >= "\u0e00")
