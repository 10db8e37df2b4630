"""From a token to what asks a tantivy index for it (hot path)."""

from __future__ import annotations

import tantivy

from catmem.text.tokens import is_dense

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def term(schema: Any, field: str, token: str) -> Any:
    """The documents with a token, in a field of words.

    A character of a script without blanks is indexed by itself only where it ends a run: elsewhere it begins a pair.
    """
    query = tantivy.Query
    alone = query.term_query(schema, field, token, "freq")
    if len(token) > 1 or not is_dense(token):
        return alone
    should = tantivy.Occur.Should
    return query.boolean_query([(should, alone), (should, query.regex_query(schema, field, f"{token}."))])
