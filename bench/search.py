"""`python -m bench.search [SMALL LARGE]`: how a search over what was said grows with the number of messages.

The bar is a ratio: the 95th percentile at 1,000,000 messages is at most 5 times that at 10,000. Messages are English
and Chinese in turn, their words Zipf-like with the function words of both languages in front, as in any talk; they
stand in five projects, and an index is made of them as the index makes it. Asked are the pools' prompts: in every
project, in one, of one role, since a day.
"""

from __future__ import annotations

import itertools
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import Bar
from catmem.domain.clock import stamp
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.index import layout
from catmem.index.documents import passage_records
from catmem.index.part import Part
from catmem.recall.search import Searcher
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings
from catmem.text.stopwords import CHINESE_CHARACTERS, CHINESE_PAIRS, ENGLISH
from tests.recall.pools import POOLS

NOW = 1_780_000_000
DAY = 86_400
ROUNDS = 300
SIZES = (10_000, 1_000_000)
MOST_RATIO = 5.0
PROJECTS = 5
# As many to a session as people and assistants say in an afternoon.
SESSION = 100
# Beside the words of the pools, names that are as rare as names are.
NAMES = 20_000


class Index(NamedTuple):
    messages: int
    built_seconds: float
    megabytes: float
    searcher: Searcher


def indexed(root: Path, count: int) -> Index:
    """An index of `count` messages under `root`, and who asks it."""
    paths = Paths(root)
    started = time.perf_counter()
    build(paths, count)
    built = time.perf_counter() - started
    size = sum(file.stat().st_size for file in paths.search.rglob("*") if file.is_file())
    return Index(count, built, size / 1e6, Searcher(paths, Settings(), clock=lambda: NOW))


def build(paths: Paths, count: int, seed: int = 1) -> None:
    """An index of `count` messages and no memory; a message at a time, so that a million need no more room than one."""
    for part in layout.PARTS:
        with Part(Path(layout.part_folder(str(paths.search), part))).writing() as writer:
            if part == layout.PASSAGES:
                for ref, message in _messages(count, random.Random(seed)):
                    for record in passage_records(ref, message):
                        writer.add(record)


def _messages(count: int, chance: random.Random) -> Iterator[tuple[SessionRef, Message]]:
    english, chinese = _english(chance), _chinese(chance)
    for number in range(count):
        session, place = divmod(number, SESSION)
        text = " ".join(next(english)) if number % 4 < 2 else "".join(next(chinese))
        at = stamp(NOW - chance.randrange(500 * DAY))
        message = Message("user" if number % 2 else "assistant", text, at, f"u{number}", place + 1, f"s{session}")
        yield SessionRef(f"project-{session % PROJECTS}", f"s{session}"), message


def _english(chance: random.Random) -> Iterator[list[str]]:
    words = sorted({word for pool in POOLS for fact in pool.facts for word in fact.split() if word.isascii()})
    chance.shuffle(words)
    return _talk(chance, [*ENGLISH, *words, *(f"{words[n % len(words)]}{n}" for n in range(NAMES))])


def _chinese(chance: random.Random) -> Iterator[list[str]]:
    facts = [fact for pool in POOLS for fact in pool.facts if not fact.isascii()]
    pieces = (fact[at : at + length] for fact in facts for length in (2, 3) for at in range(len(fact) - length))
    words = sorted({piece for piece in pieces if not any(map(str.isascii, piece))})
    chance.shuffle(words)
    signs = "".join(words)
    names = ["".join(chance.choices(signs, k=2)) for _ in range(NAMES)]
    return _talk(chance, [*CHINESE_CHARACTERS, *CHINESE_PAIRS, *words, *names, "，"])


def _talk(chance: random.Random, words: list[str]) -> Iterator[list[str]]:
    """Sentences of 3 to 15 words without an end, the first words of the list the commonest."""
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    while True:
        drawn = chance.choices(words, cum_weights=weights, k=10_000)
        start = 0
        while start < len(drawn) - 15:
            length = chance.randint(3, 15)
            yield drawn[start : start + length]
            start += length


def _ask(indexes: Sequence[Index]) -> list[list[float]]:
    """The sorted times of each index: the same questions in turn, so that a machine that slows down slows them all."""
    prompts = [prompt for pool in POOLS for prompt, _ in pool.wanted]
    ways: list[dict[str, Any]] = [
        {"project": None},
        {"project": "project-1"},
        {"project": "project-1", "role": "user"},
        {"project": None, "since": stamp(NOW - 30 * DAY)},
    ]
    asked = list(itertools.islice(zip(itertools.cycle(prompts), itertools.cycle(ways), strict=False), ROUNDS))
    times: list[list[float]] = [[] for _ in indexes]
    for prompt, way in [*asked[:1], *asked]:
        for index, taken in zip(indexes, times, strict=True):
            started = time.perf_counter()
            index.searcher.search(prompt, limit=10, **way)
            taken.append(time.perf_counter() - started)
    # The first question opens the files.
    return [sorted(taken[1:]) for taken in times]


def measure(sizes: tuple[int, ...] = SIZES) -> list[Bar]:
    with tempfile.TemporaryDirectory(prefix="catmem-bench-") as folder:
        indexes = [indexed(Path(folder, str(size)), size) for size in sizes]
        times = _ask(indexes)
    for index, taken in zip(indexes, times, strict=True):
        print(
            f"     search: {index.messages:,} messages, indexed in {index.built_seconds:.1f} s"
            f" ({index.messages / index.built_seconds:,.0f} a second), {index.megabytes:.1f} MB,"
            f" p50 {_percentile(taken, 50):.1f} ms, p95 {_percentile(taken, 95):.1f} ms",
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
