"""From vectors to how near a document is to a query.

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
# Fewer documents are filled up to so many with sentences of the background: of three memories that say the same each is
# near then, and a lone one, too. Among more, those that are meant stand out by themselves.
_FEW = 20


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
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-6), dtype=np.float32)


def closeness(cosines: Floats, background: Floats) -> tuple[Floats, Floats]:
    """For each document how near it is and how alike: the first to order by, the second to hold against a threshold.

    `cosines` are those of the documents, of each its nearest row, with the query and then its sentences, if it has
    several; `background` those of the background's sentences. How near is told in standard deviations, so that a sentence to which all is alike does not outvote others.
    """
    near, alike = _standardised(np.concatenate([cosines, _some(background, _FEW - len(cosines))])), cosines
    if cosines.shape[1] == 1:
        return near[: len(cosines), 0], alike[:, 0]
    sentence = _standardised(near[:, 1:].max(axis=1, keepdims=True))[:, 0]
    return (
        ((1 - _SENTENCE) * near[:, 0] + _SENTENCE * sentence)[: len(cosines)],
        (1 - _SENTENCE) * alike[:, 0] + _SENTENCE * alike[:, 1:].max(axis=1),
    )


def _some(rows: Floats, count: int) -> Floats:
    """So many of the rows, at most all, spread over them: those of both languages."""
    some: Floats = rows[np.linspace(0, len(rows) - 1, min(max(count, 0), len(rows))).astype(int)]
    return some


def _standardised(values: Floats) -> Floats:
    """Each column less its mean, in its standard deviations."""
    spread = np.maximum(values.std(axis=0), 1e-6)
    return np.asarray((values - values.mean(axis=0)) / spread, dtype=np.float32)


def _means(vectors: Floats, scripts: Integers) -> Floats:
    counts = np.bincount(scripts, minlength=SCRIPTS)[:SCRIPTS, None]
    sums = np.stack([_sum(vectors, scripts, script) for script in range(SCRIPTS)])
    return np.asarray(sums / np.maximum(counts, 1), dtype=np.float32)


def _sum(vectors: Floats, scripts: Integers, script: int) -> Floats:
    total: Floats = vectors[scripts == script].sum(axis=0)
    return total
