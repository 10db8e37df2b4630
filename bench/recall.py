"""`python -m bench.recall [SMALL LARGE]`: how recall grows with the number of memories, in one process.

The bar is a ratio: the 95th percentile at 100,000 memories is at most 3 times that at 10,000. The memories are made
from the words of our own pools, Zipf-like, in five projects; queries are the pools' prompts.
"""

from __future__ import annotations

import itertools
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from bench.measure import Bar
from catmem.index import layout
from catmem.index.documents import Record
from catmem.index.part import Part
from catmem.index.reader import SearchReader
from catmem.index.scope import Scope
from catmem.recall.keyword import find
from catmem.recall.query import Query
from catmem.recall.rank import Weighing
from catmem.settings.schema import Settings
from catmem.text.tokens import tokens
from tests.recall.pools import POOLS

NOW = 1_780_000_000_000
DAY = 86_400_000
ROUNDS = 400
SIZES = (10_000, 100_000)
MOST_RATIO = 3.0


class Timing(NamedTuple):
    memories: int
    built_seconds: float
    megabytes: float
    opened_ms: float
    p50_ms: float
    p95_ms: float


def time_recall(count: int, seed: int = 1) -> Timing:
    """Builds an index of `count` memories in a temporary directory and asks it ROUNDS times."""
    with tempfile.TemporaryDirectory(prefix="catmem-bench-") as folder:
        started = time.perf_counter()
        build(Path(folder), count, seed)
        built = time.perf_counter() - started
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        started = time.perf_counter()
        reader = SearchReader(folder)
        reader.count("memory")
        opened = time.perf_counter() - started
        times = sorted(_ask(reader))
        return Timing(
            count, built, size / 1e6, opened * 1e3, times[len(times) // 2] * 1e3, times[len(times) * 95 // 100] * 1e3
        )


def build(folder: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    words = sorted({word for pool in POOLS for fact in pool.facts for word in fact.split()})
    words += [f"{word}{number}" for number in range(40) for word in words[:200]]
    weights = list(itertools.accumulate(1 / (rank + 8) for rank in range(len(words))))
    with Part(Path(layout.part_folder(str(folder), layout.MEMORIES))).writing() as writer:
        for number in range(count):
            text = " ".join(chance.choices(words, cum_weights=weights, k=chance.randint(6, 16)))
            writer.add(_record(number, text, NOW - chance.randrange(500) * DAY, f"project-{number % 5}"))
    with Part(Path(layout.part_folder(str(folder), layout.PASSAGES))).writing():
        pass


def _record(number: int, text: str, at: int, project: str) -> Record:
    return {
        "type": "memory", "id": f"m{number:012x}", "text": text, "kind": "decision", "scope": "project",
        "project": project, "session": f"s{number % 997}", "message_id": 1, "at": "2026-01-01T00:00:00.000Z",
        "instants": [at], "confirmations": 1 + number % 3, "pinned": False, "status": "live",
        "successor": f"m{number:012x}", "words": " ".join(tokens(text)),
    }  # fmt: skip


def _ask(reader: SearchReader) -> list[float]:
    prompts = [prompt for pool in POOLS for prompt, _ in pool.wanted]
    scope, weighing = Scope(projects=("project-1", "")), Weighing(NOW, Settings().recency_half_life_days, 0.35)
    times = []
    for prompt in itertools.islice(itertools.cycle(prompts), ROUNDS):
        started = time.perf_counter()
        find(reader, Query(prompt), scope, weighing, limit=10)
        times.append(time.perf_counter() - started)
    return times


def measure(sizes: tuple[int, ...] = SIZES) -> list[Bar]:
    timings = [time_recall(size) for size in sizes]
    for t in timings:
        print(
            f"     recall: {t.memories:,} memories, built in {t.built_seconds:.1f} s, {t.megabytes:.1f} MB,"
            f" opened in {t.opened_ms:.2f} ms, p50 {t.p50_ms:.2f} ms, p95 {t.p95_ms:.2f} ms"
        )
    ratio = timings[-1].p95_ms / timings[0].p95_ms
    return [Bar(f"recall p95 at {sizes[-1]:,} memories / at {sizes[0]:,}", ratio, MOST_RATIO)]


if __name__ == "__main__":
    for bar in measure(tuple(map(int, sys.argv[1:])) or SIZES):
        print(bar.line())
