"""From a query to ranked hits by keywords alone (hot path): the terms, the search, the order, the folding."""

from __future__ import annotations

import itertools

from catmem.recall.rank import Weighing, aging, fold, order, put_below_successors, rank
from catmem.recall.relevance import Relevance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from catmem.index.documents import Record
    from catmem.index.reader import SearchReader
    from catmem.index.scope import Scope
    from catmem.recall.query import Query
    from catmem.text.concepts import Bridge

# Of each type so many are ranked, whatever the limit is: ranking moves a hit by a few places only, and the best 5 of a
# search for 100 must be those of a search for 5.
CANDIDATES = 100
# Another word for the same thing brings a text among the candidates; what that counts is said in ranking, where it is
# known whether the text has the word itself.
_OTHER_WORD = 0.05
# An answer stands out among so many. With five the sets of questions tell it less well.
_BEST = 10
# A query that names more than a few months is a list.
_MOST_MOMENTS = 3


def find(
    reader: SearchReader, query: Query, scope: Scope, weighing: Weighing, *, limit: int, candidates: int = CANDIDATES
) -> list[Record]:
    """The best `limit` hits for a query that say different things, best first; the rest is that of `ranked`."""
    return fold(ranked(reader, query, scope, weighing, candidates=candidates), limit)


def ranked(
    reader: SearchReader, query: Query, scope: Scope, weighing: Weighing, *, candidates: int = CANDIDATES
) -> list[Record]:
    """The hits for a query, best first; [] if nothing is relevant enough. Raises what the reader raises.

    Of each type the `candidates` with the best words are ranked.
    """
    return _assured(fitting(reader, query, scope, weighing, candidates=candidates))


def fitting(
    reader: SearchReader, query: Query, scope: Scope, weighing: Weighing, *, candidates: int = CANDIDATES
) -> list[Record]:
    """The same with scores that tell how well the words fit, and nothing of whether there is an answer."""
    if not query.terms or not (query.units or weighing.searched):
        return []
    tokens = [token for unit in query.units for token in unit]
    others = _others(query.bridges)
    hits: list[Record] = []
    for type in scope.types:
        found = _candidates(reader, query, scope.only(type), weighing.now, candidates)
        if found:
            frequency = reader.frequencies(type, [*tokens, *others])
            measure = Relevance(query, reader.count(type), frequency, query.bridges)
            hits += rank(found, query, measure, weighing)
    return sorted(hits, key=order)


def _assured(hits: list[Record]) -> list[Record]:
    """The hits in their order, with scores that tell, too, how sure it is that there is an answer at all.

    An answer stands out: its words fit better than those of the best on average, where chance makes them fit alike. That
    it is new, which moves it in the order, makes it no surer.
    """
    if not hits:
        return hits
    first = hits[0]
    fits = sorted((hit["bm25"] for hit in hits if hit["type"] == first["type"]), reverse=True)
    average = sum(fits[:_BEST]) / _BEST
    sure = first["bm25"] / ((first["bm25"] + average) or 1.0) / aging(first)
    for hit in hits:
        hit["score"] = round(min(1.0, hit["score"] * sure), 4)
    put_below_successors(hits)
    return sorted(hits, key=order)


def _candidates(reader: SearchReader, query: Query, scope: Scope, now: int, count: int) -> list[Record]:
    """The texts with the best words; among them the best of each month that the query names.

    Among many texts the best ones of a month may not be among the best of all.
    """
    known = frozenset(query.everything)
    terms = [*query.terms, *((token, _OTHER_WORD) for token in _others(query.bridges) if token not in known)]
    found = reader.search(terms, scope, limit=count)
    if not query.moments or len(found) < count or not scope.is_timeless:
        return found
    months = [scope.between(*moment.bounds(now)) for moment in query.moments[:_MOST_MOMENTS]]
    return _united(found, *(reader.search(terms, month, limit=count) for month in months))


def _others(spans: Sequence[Bridge]) -> list[str]:
    """The tokens of all other words, each once."""
    return list(dict.fromkeys(token for span in spans for _, written in span.others for token in written))


def _united(*found: Sequence[Record]) -> list[Record]:
    known: dict[tuple[str, str, str], Record] = {}
    for hit in itertools.chain(*found):
        known.setdefault((hit["project"], hit["id"], hit["text"]), hit)
    return list(known.values())
