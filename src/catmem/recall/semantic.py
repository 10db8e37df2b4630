"""What is near a query in meaning: its vectors and those of its sentences, held against those of the index.

If anything of it is missing (the embedder, numpy, vectors of this model), or fails, there is no answer, and the query is
answered by its words. Never in a hook: nothing here is plain or fast enough for one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from catmem.index.documents import Record, hash_of
from catmem.index.reader import SearchReader
from catmem.index.scope import Scope
from catmem.index.vectors.layout import read_state
from catmem.llm.one_core import one_core
from catmem.llm.port import Embedder, Failure
from catmem.text.pieces import script_of, sentences_of

if TYPE_CHECKING:
    from catmem.index.vectors.nearest import Near, Nearness

# Of a pasted log the beginning and the end say what is asked; embedding all of it would take minutes.
_MOST_CHARACTERS = 2000
# The last sentences of a long query, which are the nearest to what is asked; each takes 20 ms.
_MOST_SENTENCES = 24
# So many of the nearest documents are looked up at once, until enough of them are in the scope: mostly all are, and a
# hundred are wanted.
_AT_ONCE = 100
# An embedder that failed is left alone for so long by who asks often; seconds.
_REST = 60.0


class Meant(NamedTuple):
    """A document, and how alike it is to a query; see index/vectors/closeness."""

    record: Record
    alike: float


class Meaning:
    """Asks the vectors of a data directory; `embedder` is None where there is none."""

    def __init__(self, search: Path, embedder: Embedder | None) -> None:
        self._search = search
        self._embedder = embedder
        self._rests_until = 0.0

    def is_ready(self) -> bool:
        """False if there is no use in asking: no embedder, no vectors of its model, or it failed a moment ago."""
        if self._embedder is None or time.monotonic() < self._rests_until:
            return False
        return read_state(self._search).model == self._embedder.model

    def of(
        self, text: str, scope: Scope, reader: SearchReader, *, most: int, known: Mapping[int, Record]
    ) -> dict[int, Meant] | None:
        """The `most` documents of each type that are nearest to a text, by their keys, and those that are `known` to be in
        the scope. None if it cannot be told. Raises what the reader raises.

        Ask `is_ready` first: vectors of another model would be taken for those of this one."""
        texts = _texts(text)
        vectors = self._vectors(texts)
        if vectors is None:
            return None
        found: dict[int, Meant] = {}
        told = False
        for type in scope.types:
            only = scope.only(type)
            near = self._nearness(only, reader, vectors, [script_of(text) for text in texts])
            if near is not None:
                told = True
                found |= {one.key: Meant(known[one.key], one.alike) for one in near.of(known.keys())}
                found |= dict(islice(_in_scope(near.best(), only, reader, known), most))
        return found if told else None

    def _vectors(self, texts: list[str]) -> list[list[float]] | None:
        if self._embedder is None or not texts:
            return None
        try:
            return self._embedder.embed(texts, "query")
        except Failure:
            self._rests_until = time.monotonic() + _REST
            return None

    def _nearness(
        self, scope: Scope, reader: SearchReader, vectors: list[list[float]], scripts: list[int]
    ) -> Nearness | None:
        homes = reader.members(scope.projects)
        try:
            with one_core():
                from catmem.index.vectors.nearest import nearness  # numpy, which is an extra

            (type,) = scope.types
            named = None if homes is None else {hash_of(home) for home in homes}
            return nearness(self._search, read_state(self._search), type, vectors, scripts, named)
        except (ImportError, OSError, ValueError):
            return None


def _texts(text: str) -> list[str]:
    """The query and, if it has several, its sentences; none if it says nothing."""
    if len(text) > _MOST_CHARACTERS:
        text = f"{text[: _MOST_CHARACTERS // 2]}\n{text[-_MOST_CHARACTERS // 2 :]}"
    sentences = sentences_of(text)
    return [text, *sentences[-_MOST_SENTENCES:]] if len(sentences) > 1 else [text][: len(sentences)]


def _in_scope(
    near: Iterator[Near], scope: Scope, reader: SearchReader, known: Mapping[int, Record]
) -> Iterator[tuple[int, Meant]]:
    """Those that are in the index and in the scope, in their order: filters hold as they do for words."""
    while some := list(islice(near, _AT_ONCE)):
        others = [one.key for one in some if one.key not in known]
        records = {**known, **(reader.within(others, scope) if others else {})}
        yield from ((one.key, Meant(records[one.key], one.alike)) for one in some if one.key in records)
