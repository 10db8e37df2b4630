"""Words and meaning made one order: of each hit how well its words fit, and how near it is in meaning, are added.

Words count for as much as they are sure: the best fit of them is worth the share of the query that it has, the others
their share of that (`rank.rank`). So where a text has the words of the query, no other is put before it that is merely
about the same; and where the best has hardly any of them, meaning decides. Fusing by ranks, as is often done, knows
neither, and loses (decision 016).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catmem.index.documents import Record, key_of
from catmem.index.reader import SearchReader
from catmem.index.scope import Scope
from catmem.recall.keyword import CANDIDATES, fitting, ranked
from catmem.recall.query import Query
from catmem.recall.rank import Weighing, order, put_below_successors, weight_of, words_of
from catmem.recall.semantic import Meaning, Meant

# What likeness counts beside a fit of words that is 1 at best; an answer is 0.4 alike, mostly. Between 1.5 and 2.5 no set
# of questions loses by it, and all gain the same but for a point or two; chosen on any three of them, it is 1.75 or 2.
_LIKENESS = 1.75
# Every word of the query, and 0.6 alike: more is not expected of an answer.
_BEST_FIT = 1 + 0.6 * _LIKENESS
# What likeness adds to the relevance by words: up to 0.2, which half of all prompts have to some fact that has nothing
# to do with them, half as much as above. So 0.35 is relevant by itself to who searches. A prompt is not a search, and
# "fix the typo in README" is 0.39 alike to what language the README has: there it adds half of itself, so that some of
# the words must speak for a text, too.
_PLAIN, _STEEP, _TELLING = 0.7, 1.4, 0.2
_OF_A_PROMPT = 0.5
ALIKE = 0.35
"""So alike is what means the same, even without a word in common."""


def ranked_by_both(
    reader: SearchReader, meaning: Meaning, query: Query, scope: Scope, weighing: Weighing, candidates: int = CANDIDATES
) -> list[Record]:
    """The hits for a query, best first; those of `keyword.ranked` where meaning cannot be told, and then they have no
    `alike`. Raises what the reader raises."""
    if query.units and meaning.is_ready():
        every = Weighing(weighing.now, weighing.half_lives, 0.0, weighing.searched)
        hits = fitting(reader, query, scope, every, candidates=candidates)
        known = {key_of(hit): hit for hit in hits}
        meant = meaning.of(query.text, scope, reader, most=candidates, known=known)
        if meant is not None:
            return fused(hits, meant, query, weighing)
    return ranked(reader, query, scope, weighing, candidates=candidates)


def fused(hits: Sequence[Record], meant: Mapping[int, Meant], query: Query, weighing: Weighing) -> list[Record]:
    """The hits by words, and what is near in meaning beside them, best first; only what is relevant enough.

    `hits` are those of `keyword.fitting` without a threshold; those of `meant` that are not among them join them. The
    relevance of a hit is the sum of both: how much of the query its words cover, and how alike it is.
    """
    known = {key_of(hit): hit for hit in hits}
    for key, found in meant.items():
        if key not in known:
            known[key] = {**found.record, "bm25": 0.0, "akin": 0.0, "relevance": 0.0, "matched": [], "score": 0.0}
            words_of(known[key])
    said = _likeness_of_messages(meant)
    for key, hit in known.items():
        # A new memory has no vector yet: it is as alike as what it was made from, which would else stand in its place.
        hit["alike"] = meant[key].alike if key in meant else said.get(_message(hit), 0.0) * (hit["type"] == "memory")
        hit["relevance"] = min(1.0, hit["relevance"] + _relevance_of(hit["alike"], weighing.searched))
        fit = hit["score"] + _LIKENESS * max(0.0, hit["alike"]) * weight_of(hit, query, weighing)
        hit["score"] = round(min(1.0, fit / _BEST_FIT), 4)
    kept = [hit for hit in known.values() if hit["relevance"] >= weighing.threshold]
    put_below_successors(kept)
    return sorted(kept, key=order)


def _likeness_of_messages(meant: Mapping[int, Meant]) -> dict[tuple[str, str, int], float]:
    """That of the best piece of each."""
    told: dict[tuple[str, str, int], float] = {}
    for found in meant.values():
        message = _message(found.record)
        told[message] = max(found.alike, told.get(message, found.alike))
    return told


def _message(hit: Record) -> tuple[str, str, int]:
    return hit["project"], hit["session"], hit["message_id"]


def _relevance_of(alike: float, searched: bool) -> float:
    if not searched:
        return _OF_A_PROMPT * max(alike, 0.0)
    return _PLAIN * min(max(alike, 0.0), _TELLING) + _STEEP * max(alike - _TELLING, 0.0)
