"""`python -m bench.search [SMALL LARGE]`: how a search over what was said grows with the number of messages.

The bar is a ratio: the 95th percentile at 1,000,000 messages is at most 5 times that at 10,000. Asked are the pools'
prompts: in every project, in one, of one role, since a day.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Sequence
from typing import Any

from bench.large import DAY, NOW, SIZES, Index, index_of
from bench.measure import Bar
from catmem.domain.clock import stamp
from catmem.recall.search import Searcher
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings
from tests.recall.pools import POOLS

ROUNDS = 300
MOST_RATIO = 5.0
WAYS: Sequence[dict[str, Any]] = (
    {"project": None},
    {"project": "project-1"},
    {"project": "project-1", "role": "user"},
    {"project": None, "since": stamp(NOW - 30 * DAY)},
)


def _ask(indexes: Sequence[Index]) -> list[list[float]]:
    """The sorted times of each index: the same questions in turn, so that a machine that slows down slows them all."""
    searchers = [Searcher(Paths(index.root), Settings(), clock=lambda: NOW) for index in indexes]
    prompts = [prompt for pool in POOLS for prompt, _ in pool.wanted]
    asked = list(itertools.islice(zip(itertools.cycle(prompts), itertools.cycle(WAYS), strict=False), ROUNDS))
    times: list[list[float]] = [[] for _ in indexes]
    for prompt, way in [*asked[:1], *asked]:
        for searcher, taken in zip(searchers, times, strict=True):
            started = time.perf_counter()
            searcher.search(prompt, limit=10, **way)
            taken.append(time.perf_counter() - started)
    # The first question opens the files.
    return [sorted(taken[1:]) for taken in times]


def measure(sizes: tuple[int, ...] = SIZES) -> list[Bar]:
    indexes = [index_of(size) for size in sizes]
    times = _ask(indexes)
    for index, taken in zip(indexes, times, strict=True):
        print(
            f"     search: {index.messages:,} messages, p50 {_percentile(taken, 50):.1f} ms,"
            f" p95 {_percentile(taken, 95):.1f} ms",
            flush=True,
        )
    ratio = _percentile(times[-1], 95) / _percentile(times[0], 95)
    return [Bar(f"search p95 at {sizes[-1]:,} messages / at {sizes[0]:,}", ratio, MOST_RATIO)]


def _percentile(times: Sequence[float], percent: int) -> float:
    """In milliseconds."""
    return times[len(times) * percent // 100] * 1e3


if __name__ == "__main__":
    for bar in measure(tuple(map(int, sys.argv[1:])) or SIZES):
        print(bar.line())
