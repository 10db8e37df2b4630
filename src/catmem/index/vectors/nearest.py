"""Which documents are near a query in meaning: every row is looked at, of a memory map, with numpy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from catmem.index.vectors.closeness import SCRIPTS, Usual, centred, closeness, unit, usual
from catmem.index.vectors.layout import BACKGROUND, State, file_of
from catmem.index.vectors.rows import HEAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]

# Rows widened to floats at once: 6 MB, whatever the file's size. So many also tell what is usual.
_CHUNK = 4096


class Near(NamedTuple):
    """The key of a document, and how alike it is to a query, -1..1; see `closeness`."""

    key: int
    alike: float


class Nearness:
    """How alike each document of a type is to one query."""

    def __init__(self, keys: Integers, alike: Floats) -> None:
        self._keys, self._alike = keys, alike

    def best(self) -> Iterator[Near]:
        """All documents, nearest first."""
        return map(self._at, np.argsort(-self._alike, kind="stable"))

    def of(self, keys: Collection[int]) -> list[Near]:
        """Those of the documents that have vectors."""
        wanted = np.fromiter(keys, dtype=np.int64, count=len(keys))
        return [self._at(place) for place in np.flatnonzero(np.isin(self._keys, wanted))]

    def _at(self, place: Any) -> Near:
        return Near(int(self._keys[place]), float(self._alike[place]))


def nearness(
    search: Path,
    state: State,
    type: str,
    queries: Sequence[Sequence[float]],
    scripts: Sequence[int],
    homes: Collection[int] | None,
) -> Nearness | None:
    """How near the documents of a type are to a query; None where there is nothing to compare it with.

    `queries` are the vectors of the query and of its sentences, if it has several, and `scripts` theirs; `homes` the
    hashes of the projects to look in, None for all. Raises OSError or ValueError for rows that cannot be read.
    """
    rows = _mapped(search, state, type)
    asked = np.asarray(queries, dtype=np.float32)
    places = _in(rows["home"], homes)
    if not len(places) or asked.shape[1:] != (state.dimension,):
        return None
    means = _usual(rows, places, _mapped(search, state, BACKGROUND))
    asked = centred(asked, np.asarray(scripts), means.queries)
    keys = rows["key"][places]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    cosines = np.maximum.reduceat(_cosines(rows, places, asked, means), first, axis=0)
    return Nearness(keys[first], closeness(cosines))


def _mapped(search: Path, state: State, type: str) -> Any:
    """The whole rows of a file; a row that is half written does not count."""
    row = np.dtype(
        {
            "names": ["key", "home", "piece", "script", "vector"],
            "formats": ["<i8", "<i8", "<u2", "<u2", ("i1", state.dimension)],
            "offsets": [0, 8, 16, 20, HEAD.size],
            "itemsize": HEAD.size + state.dimension,
        }
    )
    path = file_of(search, type)
    try:
        count = path.stat().st_size // row.itemsize
    except FileNotFoundError:
        count = 0
    return np.memmap(path, dtype=row, mode="r", shape=(count,)) if count else np.zeros(0, dtype=row)


def _in(home: Integers, homes: Collection[int] | None) -> Integers:
    if homes is None:
        return np.arange(len(home))
    return np.flatnonzero(np.isin(home, np.fromiter(homes, dtype=np.int64, count=len(homes))))


def _usual(rows: Any, places: Integers, background: Any) -> Usual:
    """What is usual, as a sample tells that is spread over all rows."""
    sample = rows[places[:: len(places) // _CHUNK + 1]]
    beside = unit(background["vector"].astype(np.float32))
    asked = background["piece"] == 1
    return usual(
        unit(sample["vector"].astype(np.float32)),
        _scripts(sample),
        beside[~asked],
        beside[asked],
        _scripts(background[asked]),
    )


def _cosines(rows: Any, places: Integers, asked: Floats, means: Usual) -> Floats:
    """Of each of the rows with each vector asked for, both without what is usual.

    What is usual is not taken from the rows themselves, which would be most of the work, but from their products.
    """
    cosines = np.zeros((len(places), len(asked)), dtype=np.float32)
    beside = np.concatenate([asked, means.passages]).T
    of_usual = means.passages @ asked.T
    squares = (means.passages**2).sum(axis=1)
    for start in range(0, len(places), _CHUNK):
        chunk = rows[places[start : start + _CHUNK]]
        scripts, vectors = _scripts(chunk), chunk["vector"].astype(np.float32)
        lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
        products = vectors @ beside / np.maximum(lengths, 1e-6)
        own = products[np.arange(len(chunk)), len(asked) + scripts]
        left = np.sqrt(np.maximum(1 - 2 * own + squares[scripts], 1e-12))[:, None]
        cosines[start : start + _CHUNK] = (products[:, : len(asked)] - of_usual[scripts]) / left
    return cosines


def _scripts(rows: Any) -> Integers:
    """What damage made of a script is one of them all the same."""
    return np.asarray(rows["script"] % SCRIPTS, dtype=np.int64)
