"""From a query to ranked hits by keywords alone (hot path): the terms, the search, the order, the folding."""

from __future__ import annotations

from catmem.recall.rank import fold, order, rank
from catmem.recall.relevance import Relevance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catmem.index.documents import Record
    from catmem.index.reader import SearchReader
    from catmem.recall.query import Query

# Of each type so many are ranked, whatever the limit is: ranking moves a hit by a few places only, and the best 5 of a
# search for 100 must be those of a search for 5.
CANDIDATES = 100


def find(
    reader: SearchReader,
    query: Query,
    *,
    limit: int,
    now: int,
    half_lives: Mapping[str, float],
    threshold: float,
    types: Sequence[str] = ("memory", "passage"),
    projects: Sequence[str] | None = None,
    kinds: Sequence[str] = (),
    since: int | None = None,
    until: int | None = None,
    past: bool = False,
    searched: bool = False,
    candidates: int = CANDIDATES,
) -> list[Record]:
    """The best `limit` hits for a query, best first; [] if nothing is relevant enough.

    `projects`, `kinds`, `since`, `until` and `past` are those of SearchReader.search; `now`, `half_lives`, `threshold`
    and `searched` those of rank; of each type the `candidates` with the best words are ranked. Raises what the reader
    raises.
    """
    if not query.terms or not (query.units or searched):
        return []
    tokens = [token for unit in query.units for token in unit]
    hits: list[Record] = []
    for type in types:
        found = reader.search(
            query.terms,
            types=(type,),
            projects=projects,
            kinds=kinds,
            since=since,
            until=until,
            past=past,
            limit=candidates,
        )
        if found:
            measure = Relevance(query, reader.count(type), reader.frequencies(type, tokens))
            hits += rank(found, query, measure, now=now, half_lives=half_lives, threshold=threshold, searched=searched)
    return fold(sorted(hits, key=order), limit)
