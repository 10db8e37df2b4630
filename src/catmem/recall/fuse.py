"""Words and meaning made one order: of each hit how well its words fit, and how near it is in meaning, are added.

The words lead. The best fit of them counts 1 and the others their share of it; a document that is a standard deviation
nearer in meaning than others gains a fifth of that. So a text with the words of the query is not lost to one that is
merely about the same, and what has none of its words is found where it stands out. Between an eighth and a third the
sets of questions differ by little and all gain (docs/quality.md); fusing by ranks, as is often done, loses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catmem.index.documents import Record, key_of
from catmem.index.reader import SearchReader
from catmem.index.scope import Scope
from catmem.recall.keyword import CANDIDATES, ranked
from catmem.recall.query import Query
from catmem.recall.rank import Weighing, order, put_below_successors, weight_of, words_of
from catmem.recall.semantic import Meaning, Meant

_NEARNESS = 0.2
# The best words of all, and four standard deviations nearer than others: more is not expected of an answer.
_BEST_FIT = 1 + 4 * _NEARNESS
# What likeness adds to the relevance by words: up to 0.2, which half of all prompts have to some fact that has nothing
# to do with them, half as much as above. So 0.35 is relevant by itself; of 52 prompts about nothing none comes near to
# that with both, of 73 about something one is lost.
_PLAIN, _STEEP, _TELLING = 0.7, 1.4, 0.2
ALIKE = 0.35
"""So alike is what means the same, even without a word in common."""


def ranked_by_both(
    reader: SearchReader, meaning: Meaning, query: Query, scope: Scope, weighing: Weighing, candidates: int = CANDIDATES
) -> list[Record]:
    """The hits for a query, best first; those of `keyword.ranked` where meaning cannot be told, and then they have no
    `near`. Raises what the reader raises."""
    if query.units and meaning.is_ready():
        every = Weighing(weighing.now, weighing.half_lives, 0.0, weighing.searched)
        hits = ranked(reader, query, scope, every, candidates=candidates)
        known = {key_of(hit): hit for hit in hits}
        meant = meaning.of(query.text, scope, reader, most=candidates, known=known)
        if meant is not None:
            return fused(hits, meant, query, weighing)
    return ranked(reader, query, scope, weighing, candidates=candidates)


def fused(hits: Sequence[Record], meant: Mapping[int, Meant], query: Query, weighing: Weighing) -> list[Record]:
    """The hits by words, and what is near in meaning beside them, best first; only what is relevant enough.

    `hits` are those of `keyword.ranked` without a threshold; those of `meant` that are not among them join them. The
    relevance of a hit is the sum of both: how much of the query its words cover, and how alike it is.
    """
    known = {key_of(hit): hit for hit in hits}
    for key, found in meant.items():
        if key not in known:
            known[key] = {**found.record, "bm25": 0.0, "akin": 0.0, "relevance": 0.0, "matched": [], "score": 0.0}
            words_of(known[key])
    of_type: dict[str, list[Record]] = {}
    for key, hit in known.items():
        near = meant.get(key)
        hit["near"], hit["alike"] = (near.near, near.alike) if near else (0.0, 0.0)
        hit["relevance"] = min(1.0, hit["relevance"] + _relevance_of(hit["alike"]))
        of_type.setdefault(hit["type"], []).append(hit)
    for of_one in of_type.values():
        _score(of_one, [weight_of(hit, query, weighing) for hit in of_one])
    kept = [hit for hit in known.values() if hit["relevance"] >= weighing.threshold]
    put_below_successors(kept)
    return sorted(kept, key=order)


def _relevance_of(alike: float) -> float:
    return _PLAIN * min(max(alike, 0.0), _TELLING) + _STEEP * max(alike - _TELLING, 0.0)


def _score(hits: Sequence[Record], weights: Sequence[float]) -> None:
    """Sets the scores of the hits of one type: how relevant the most relevant one is, shared out by their fit.

    The fit of the best tells more of whether there is an answer at all: where words and meaning agree on a document and
    it stands out, there mostly is.
    """
    most_words = max(hit["score"] for hit in hits) or 1.0
    heaviest = max(weights)
    fits = [
        hit["score"] / most_words + _NEARNESS * max(0.0, hit["near"]) * weight / heaviest
        for hit, weight in zip(hits, weights, strict=True)
    ]
    scale = max(hit["relevance"] for hit in hits) / _BEST_FIT
    for hit, fit in zip(hits, fits, strict=True):
        hit["score"] = round(min(1.0, fit * scale), 4)
