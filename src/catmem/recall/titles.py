"""Conversations found by what they are called: who searches may remember no more of one.

Only titles that have every word of the query count, so that they are no second, weaker search. They stand below the
memories that have every word, too, and above what was merely said. Two conversations that are called alike are two.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from catmem.index.documents import Record
from catmem.index.reader import SearchReader
from catmem.index.scope import Scope
from catmem.recall.query import Query
from catmem.recall.rank import Weighing, rank
from catmem.recall.relevance import Relevance

TITLE = "title"
"""The kind of a passage that is a title; its message is the first one of the conversation."""

# Conversations are called alike: a dozen that have the word "deploy" in their titles would hide what was said of it.
_MOST = 5


def titled(reader: SearchReader, query: Query, scope: Scope, weighing: Weighing) -> list[Record]:
    """The best titles that have every word of the query, best first. Raises what the reader raises."""
    if not query.terms:
        return []
    within = Scope(("output",), scope.projects, (TITLE,), scope.since, scope.until)
    found = reader.search(query.terms, within, every=True, limit=_MOST)
    if not found:
        return []
    asked = [token for unit in query.units for token in unit]
    measure = Relevance(query, reader.count("output"), reader.frequencies("output", asked))
    return rank(found, query, measure, weighing)


def with_titles(hits: Sequence[Record], titles: Sequence[Record]) -> list[Record]:
    """The hits, best first, and the titles among them: below the leading memories that have as much of the query."""
    if not titles:
        return list(hits)
    enough = titles[0]["relevance"]
    place = len([*takewhile(lambda hit: hit["type"] == "memory" and hit["relevance"] >= enough, hits)])
    # Scores are of different measures; what stands above has no smaller one.
    most = hits[place - 1]["score"] if place else 1.0
    least = hits[place]["score"] if place < len(hits) else 0.0
    called = [{**title, "score": min(most, max(least, title["score"]))} for title in titles]
    return [*hits[:place], *called, *hits[place:]]
