"""From vectors to how alike a document and a query are.

A cosine of two vectors says little by itself: those of real models share a direction that all texts have, and one that
all texts of a language have, so that nearly every text of the query's language stands above all of the other. So what is
usual is taken away first: the mean of the texts of the same script, which is known from the rows and, while they are
few, from sentences about nothing in particular (background.py). What is left can be compared: between scripts, between
queries, and with a threshold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float32]
    Integers: TypeAlias = NDArray[np.int64]

SCRIPTS = 2
# The background counts for so many rows of each script: it tells what is usual among ten memories, and hardly matters
# among a thousand. From 0 (the background alone) to 50 the sets differ by a point, either way.
_BACKGROUND = 50.0
# How much of a query of several sentences is the sentence that fits best, and not the whole: in a long one, one sentence
# may be what it is about. Dialogues want more of it, single questions are not concerned; between a third and a half
# nothing changes by more than a point.
_SENTENCE = 0.4


@dataclass(frozen=True, slots=True)
class Usual:
    """The mean vectors of passages and of queries, one for each script."""

    passages: Floats
    queries: Floats


def usual(rows: Floats, scripts: Integers, passages: Floats, queries: Floats, background: Integers) -> Usual:
    """What is usual, told by a sample of the rows and by the background, whose sentences are there both as passages and
    as queries; all of length 1. `background` are the scripts of those sentences."""
    own = np.stack([_sum(rows, scripts, script) for script in range(SCRIPTS)])
    counts = np.bincount(scripts, minlength=SCRIPTS)[:SCRIPTS, None].astype(np.float32)
    beside = _means(passages, background)
    means = (own + _BACKGROUND * beside) / np.maximum(counts + _BACKGROUND, 1)
    return Usual(means.astype(np.float32), _means(queries, background))


def centred(vectors: Floats, scripts: Integers, means: Floats) -> Floats:
    """Vectors of any length without what is usual for their script, of length 1."""
    return unit(unit(vectors) - means[scripts])


def unit(vectors: Floats) -> Floats:
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))[:, None]
    return np.asarray(vectors / np.maximum(lengths, 1e-6), dtype=np.float32)


def closeness(cosines: Floats) -> Floats:
    """How alike each document is to a query, -1..1.

    `cosines` are those of the documents, of each its nearest row, with the query and then its sentences, if it has
    several; all of them without what is usual.
    """
    if cosines.shape[1] == 1:
        return cosines[:, 0]
    alike: Floats = (1 - _SENTENCE) * cosines[:, 0] + _SENTENCE * cosines[:, 1:].max(axis=1)
    return alike


def _means(vectors: Floats, scripts: Integers) -> Floats:
    counts = np.bincount(scripts, minlength=SCRIPTS)[:SCRIPTS, None]
    sums = np.stack([_sum(vectors, scripts, script) for script in range(SCRIPTS)])
    return np.asarray(sums / np.maximum(counts, 1), dtype=np.float32)


def _sum(vectors: Floats, scripts: Integers, script: int) -> Floats:
    of_it: Floats = (scripts == script).astype(np.float32)
    total: Floats = of_it @ vectors
    return total
