"""`python -m bench.recall [SMALL LARGE]`: how recall grows, in one process, and how it stands beside SQLite's FTS5.

Asked are the pools' prompts, of one project and the profile, memories and passages as `mem recall` ranks them: 100 of
each. FTS5 has the same tokens in its tables and is asked for the same words, OR-ed, the best 100 by its bm25, of all
projects; it makes no results of them. The bars are ratios within this run.
"""

from __future__ import annotations

import itertools
import sqlite3
import statistics
import sys
import time
from collections.abc import Sequence

from bench.large import NOW, SIZES, Index, index_of
from bench.measure import Bar
from catmem.index import layout
from catmem.recall.keyword import CANDIDATES
from catmem.recall.query import Query
from catmem.recall.recall import Recaller
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings
from tests.recall.pools import POOLS

ROUNDS = 200
# FTS5 takes seconds for one of them.
FTS_ROUNDS = 20
MOST_RATIO = 4.0
LEAST_FASTER = 20.0
MOST_BYTES = 1.2
# Adding a message is mostly the making of its tokens, which FTS5 is given ready: so much slower we may be.
MOST_BUILD = 4.0
# A merge maps the files that it reads; what of them the system has not taken back yet counts as memory.
MOST_TO_MAKE = 2.5
# Beside the tables of the index a process keeps the texts that it read last, a hundred blocks of 16 KB a segment: some
# 20 MB of a million messages, which do not grow with what is asked.
MOST_TO_ASK = 3.0
MOST_GROWTH = 1.1
PROMPTS = [prompt for pool in POOLS for prompt, _ in pool.wanted]


def measure(sizes: tuple[int, ...] = SIZES) -> list[Bar]:
    small, large = (index_of(size) for size in sizes)
    few, many = _times((small, large))
    for index, taken in ((small, few), (large, many)):
        print(
            f"     recall: {index.messages:,} messages, p50 {_percentile(taken, 50):.1f} ms, p95 {_percentile(taken, 95):.1f} ms"
        )
    faster, theirs = _faster_than_fts(large)
    print(f"     FTS5, the same words: p50 {theirs:.0f} ms", flush=True)
    held, few_held = _anonymous_bytes(large), _anonymous_bytes(small)
    at = f"at {large.messages:,} messages"
    return [
        Bar(f"recall p95 {at} / at {small.messages:,}", _percentile(many, 95) / _percentile(few, 95), MOST_RATIO),
        Bar(f"FTS5 / recall, median of the same questions, {at}", faster, LEAST_FASTER, most=False),
        Bar(f"index / text, bytes, {at}", large.bytes / large.text_bytes, MOST_BYTES),
        Bar(f"making the index / FTS5's of ready tokens, time, {at}", large.seconds / large.fts_seconds, MOST_BUILD),
        Bar(
            f"memory to make the index {at} / at {small.messages:,}", large.peak_bytes / small.peak_bytes, MOST_TO_MAKE
        ),
        Bar(f"memory of a process that asks {at} / at {small.messages:,}", held[0] / few_held[0], MOST_TO_ASK),
        Bar(f"memory after twice as many questions / after {len(PROMPTS)}, {at}", held[1] / held[0], MOST_GROWTH),
    ]


def _times(indexes: Sequence[Index]) -> list[list[float]]:
    """The sorted seconds of each: the same questions in turn, so that a machine that slows down slows them all."""
    recallers = [_recaller(index) for index in indexes]
    times: list[list[float]] = [[] for _ in indexes]
    asked = list(itertools.islice(itertools.cycle(PROMPTS), ROUNDS))
    # The first questions open the files.
    for prompt in [*asked[:5], *asked]:
        for recaller, taken in zip(recallers, times, strict=True):
            taken.append(_seconds(recaller, prompt))
    return [sorted(taken[5:]) for taken in times]


def _faster_than_fts(index: Index) -> tuple[float, float]:
    """How many times faster recall is, and the milliseconds that FTS5 takes: medians."""
    recaller, database = _recaller(index), index.sqlite()
    ratios, theirs = [], []
    for prompt in PROMPTS[:FTS_ROUNDS]:
        taken = _fts_seconds(database, prompt)
        theirs.append(taken * 1e3)
        ratios.append(taken / statistics.median(_seconds(recaller, prompt) for _ in range(3)))
    return statistics.median(ratios), statistics.median(theirs)


def _seconds(recaller: Recaller, prompt: str) -> float:
    started = time.perf_counter()
    recaller.recall(prompt, project="project-1", limit=10)
    return time.perf_counter() - started


def _fts_seconds(database: sqlite3.Connection, prompt: str) -> float:
    words = " OR ".join('"' + token.replace('"', '""') + '"' for token in Query(prompt).everything)
    started = time.perf_counter()
    for part in (layout.MEMORIES, layout.PASSAGES):
        query = f"select rowid from {part} where {part} match ? order by bm25({part}) limit {CANDIDATES}"
        database.execute(query, (words,)).fetchall()
    return time.perf_counter() - started


def _recaller(index: Index) -> Recaller:
    return Recaller(Paths(index.root), Settings(), lambda: NOW)


def _anonymous_bytes(index: Index) -> tuple[int, int]:
    """What a process holds after all questions, and after all of them once more, beside the pages of files, which are the
    system's to take back."""
    import subprocess

    code = (
        "import sys; from bench import recall, large, measure; from pathlib import Path\n"
        "recaller = recall._recaller(large.Index(Path(sys.argv[1]), 0, 0, 0, 0, 0))\n"
        "for _ in range(2):\n"
        "    [recall._seconds(recaller, prompt) for prompt in recall.PROMPTS]\n"
        "    print(measure.memory_of(what='RssAnon'))"
    )
    asked = subprocess.run([sys.executable, "-c", code, str(index.root)], check=True, stdout=subprocess.PIPE)
    once, twice = map(int, asked.stdout.split())
    print(f"     a process that asks {index.messages:,} messages holds {twice / 1e6:.0f} MB")
    return once, twice


def _percentile(times: Sequence[float], percent: int) -> float:
    """In milliseconds."""
    return times[len(times) * percent // 100] * 1e3


if __name__ == "__main__":
    for bar in measure(tuple(map(int, sys.argv[1:])) or SIZES):
        print(bar.line())
