"""From a token to what asks a tantivy index for it (hot path)."""

from __future__ import annotations

import math

import tantivy

from catmem.index import layout
from catmem.text.tokens import is_dense

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What a character counts for in a text where it stands in a pair, whatever the character: as one that two of three texts
# have. With 1.0 a public set in Chinese has 84.7 % of its answers in the first ten, with this 85.0 %.
_IN_A_PAIR = 0.3


def fields_of_token(part: str, token: str) -> tuple[str, ...]:
    """Where a part keeps a token."""
    return (layout.BODY, layout.ONCE) if part != layout.MEMORIES and is_dense(token) else (layout.BODY,)


def alternatives(schema: Any, searcher: Any, part: str, token: str, *, in_pairs: bool = True) -> list[Any]:
    """What together finds the documents of a part with a token, and scores them as if it were in one field.

    Of a passage a character of a script without blanks is indexed by itself only where it stands alone: elsewhere it
    begins or ends a pair. To find those the whole dictionary is gone through, 15 ms of a million messages; not so without
    `in_pairs`.
    """
    query, fields = tantivy.Query, fields_of_token(part, token)
    if len(fields) == 1:
        return [query.term_query(schema, layout.BODY, token, "freq")]
    counts = {field: searcher.doc_freq(field, token) for field in fields}
    rarity = _rarity(sum(counts.values()), searcher.num_docs)
    ways = [
        query.boost_query(query.term_query(schema, field, token, "freq"), rarity / _rarity(count, searcher.num_docs))
        for field, count in counts.items()
        if count
    ]
    if in_pairs and len(token) == 1:
        pairs = [query.regex_query(schema, field, f"{token}.|.{token}") for field in fields]
        ways += [query.boost_query(way, _IN_A_PAIR) for way in pairs]
    return ways


def holding(schema: Any, searcher: Any, part: str, token: str) -> Any:
    """The documents of a part with a token, as one query."""
    should = tantivy.Occur.Should
    return tantivy.Query.boolean_query([(should, way) for way in alternatives(schema, searcher, part, token)])


def _rarity(count: int, documents: int) -> float:
    """As tantivy weighs a term of a field."""
    return math.log(1 + (max(documents - count, 0) + 0.5) / (count + 0.5))
