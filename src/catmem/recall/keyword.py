"""From a query to ranked hits by keywords alone (hot path): the terms, the search, the order, the folding."""

from __future__ import annotations

import itertools

from catmem.recall.rank import fold, order, rank
from catmem.recall.relevance import Relevance

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catmem.index.documents import Record
    from catmem.index.reader import SearchReader
    from catmem.recall.concepts import Bridge
    from catmem.recall.query import Query

# Of each type so many are ranked, whatever the limit is: ranking moves a hit by a few places only, and the best 5 of a
# search for 100 must be those of a search for 5.
CANDIDATES = 100
# Another word for the same thing brings a text among the candidates; what that counts is said in ranking, where it is
# known whether the text has the word itself.
_OTHER_WORD = 0.05
# A query that names more than a few months is a list.
_MOST_MOMENTS = 3


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
    """The best `limit` hits for a query that say different things, best first; the rest is that of `ranked`."""
    hits = ranked(
        reader, query, now=now, half_lives=half_lives, threshold=threshold, types=types, projects=projects,
        kinds=kinds, since=since, until=until, past=past, searched=searched, candidates=candidates,
    )  # fmt: skip
    return fold(hits, limit)


def ranked(
    reader: SearchReader,
    query: Query,
    *,
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
    """The hits for a query, best first; [] if nothing is relevant enough.

    `projects`, `kinds`, `since`, `until` and `past` are those of SearchReader.search; `now`, `half_lives`, `threshold`
    and `searched` those of rank; of each type the `candidates` with the best words are ranked. Raises what the reader
    raises.
    """
    if not query.terms or not (query.units or searched):
        return []
    tokens = [token for unit in query.units for token in unit]
    others = [token for token in _others(query.bridges) if token not in query.everything]
    terms = [*query.terms, *((token, _OTHER_WORD) for token in others)]
    hits: list[Record] = []
    for type in types:

        def search(since: int | None, until: int | None, type: str = type) -> list[Record]:
            return reader.search(
                terms, types=(type,), projects=projects, kinds=kinds,
                since=since, until=until, past=past, limit=candidates,
            )  # fmt: skip

        found = search(since, until)
        # Among many texts the best ones of a month may not be among the best of all.
        if query.moments and len(found) == candidates and since is None and until is None:
            found = _united(found, *(search(*moment.bounds(now)) for moment in query.moments[:_MOST_MOMENTS]))
        if found:
            frequency = reader.frequencies(
                type, [*tokens, *(t for span in query.bridges for _, w in span.others for t in w)]
            )
            measure = Relevance(query, reader.count(type), frequency, query.bridges)
            hits += rank(found, query, measure, now=now, half_lives=half_lives, threshold=threshold, searched=searched)
    return sorted(hits, key=order)


def _others(spans: Sequence[Bridge]) -> list[str]:
    """The tokens of all other words, each once."""
    return list(dict.fromkeys(token for span in spans for _, written in span.others for token in written))


def _united(*found: Sequence[Record]) -> list[Record]:
    known: dict[tuple[str, str, str], Record] = {}
    for hit in itertools.chain(*found):
        known.setdefault((hit["project"], hit["id"], hit["text"]), hit)
    return list(known.values())
