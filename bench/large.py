"""An index of a million messages and a hundred thousand memories, and the same words in SQLite's FTS5.

Made once for all measures of it, by a process of its own (`python -m bench.large FOLDER COUNT`), so that the memory it
takes can be told. Messages are English and Chinese in turn: sentences of our pools with other words in a third of their
places, those Zipf-like with the function words of both languages in front, as in any talk; an assistant says several.
There are ten messages to a memory, in five projects. As repetitive as natural texts are, half English and half Chinese
(LifeBench, RealMem): zlib leaves 0.40 of 64 KB (0.38 there), and 9 MB have 15 different tokens to a KB (15 there).
"""

from __future__ import annotations

import atexit
import functools
import itertools
import json
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.measure import memory_of
from catmem.domain.clock import stamp
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.index import layout
from catmem.index.documents import Record, fields_of, passage_records
from catmem.index.part import Part
from catmem.settings.paths import Paths
from catmem.text.stopwords import CHINESE_CHARACTERS, CHINESE_PAIRS, ENGLISH
from catmem.text.tokens import tokens
from tests.recall.pools import POOLS

SIZES = (10_000, 1_000_000)
NOW = 1_780_000_000
DAY = 86_400
PROJECTS = 5
# As many to a session as people and assistants say in an afternoon.
SESSION = 100
# Beside the words of the pools, names that are as rare as names are.
NAMES = 50_000
# The share of a sentence that stays as it was.
KEPT = 0.65
MESSAGES_TO_A_MEMORY = 10
_BATCH = 1_000


class Index(NamedTuple):
    """An index under `root`, and how its making went; `fts_seconds` is what FTS5 took for the same words."""

    root: Path
    messages: int
    seconds: float
    fts_seconds: float
    text_bytes: int
    peak_bytes: int

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in Paths(self.root).search.rglob("*") if file.is_file())

    def sqlite(self) -> sqlite3.Connection:
        return sqlite3.connect(self.root / "fts.db")


@functools.cache
def index_of(messages: int) -> Index:
    """Made when first asked for; gone when the process ends."""
    folder = tempfile.mkdtemp(prefix="catmem-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = [sys.executable, "-m", "bench.large", folder, str(messages)]
    told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    index = Index(Path(folder), messages, **told)
    print(
        f"     an index of {messages:,} messages and {messages // MESSAGES_TO_A_MEMORY:,} memories: {index.seconds:.0f} s"
        f" ({messages / index.seconds:,.0f} messages a second; FTS5 {index.fts_seconds:.0f} s),"
        f" {index.bytes / 1e6:.1f} MB of {index.text_bytes / 1e6:.1f} MB text, at most {index.peak_bytes / 1e6:.0f} MB of memory",
        flush=True,
    )
    return index


def build(root: Path, count: int) -> dict[str, Any]:
    """Makes both in turn, a batch of each, so that a machine that slows down slows both; only they are timed."""
    chance = random.Random(1)
    search, fts = Paths(root).search, sqlite3.connect(root / "fts.db")
    taken, fts_taken, text_bytes = 0.0, 0.0, 0
    for part, records in ((layout.MEMORIES, _memories(chance, count)), (layout.PASSAGES, _passages(chance, count))):
        fts.execute(
            f"create virtual table {part} using fts5(words, content='', tokenize='unicode61 remove_diacritics 0')"
        )
        with Part(Path(layout.part_folder(str(search), part))).writing() as writer:
            while batch := list(itertools.islice(records, _BATCH)):
                text_bytes += sum(len(record["text"].encode()) for record in batch)
                started = time.perf_counter()
                for record in batch:
                    writer.add(record)
                taken += time.perf_counter() - started
                words = [(_words(record),) for record in batch]
                started = time.perf_counter()
                with fts:
                    fts.executemany(f"insert into {part} (words) values (?)", words)
                fts_taken += time.perf_counter() - started
            started = time.perf_counter()
            writer.commit()
        taken += time.perf_counter() - started
    with Part(Path(layout.part_folder(str(search), layout.OUTPUTS))).writing():
        pass
    return {"seconds": taken, "fts_seconds": fts_taken, "text_bytes": text_bytes, "peak_bytes": memory_of()}


def _words(record: Record) -> str:
    fields = fields_of(record)
    return " ".join(fields[name] for name in (layout.BODY, layout.ONCE) if name in fields)


def _passages(chance: random.Random, count: int) -> Iterator[Record]:
    talk = (_english(chance), _chinese(chance))
    for number in range(count):
        session, place = divmod(number, SESSION)
        says = chance.choice((1, 1, 2, 3)) if number % 2 else chance.choice((2, 4, 8, 16, 32))
        text = "\n".join(itertools.islice(talk[number // 2 % 2], says))
        at = stamp(NOW - chance.randrange(500 * DAY))
        message = Message("user" if number % 2 else "assistant", text, at, f"u{number}", place + 1, f"s{session}")
        yield from passage_records(SessionRef(f"project-{session % PROJECTS}", f"s{session}"), message)


def _memories(chance: random.Random, messages: int) -> Iterator[Record]:
    talk = (_english(chance), _chinese(chance))
    for number in range(messages // MESSAGES_TO_A_MEMORY):
        text, id = next(talk[number % 2]), f"m{number:012x}"
        yield {
            "type": "memory", "id": id, "text": text, "kind": "decision", "scope": "project",
            "project": f"project-{number % PROJECTS}", "session": f"s{number % 997}", "message_id": 1,
            "at": stamp(NOW - chance.randrange(500 * DAY)), "instants": [(NOW - chance.randrange(500 * DAY)) * 1000],
            "confirmations": 1 + number % 3, "pinned": False, "status": "live", "successor": id,
            "words": " ".join(tokens(text)),
        }  # fmt: skip


def _english(chance: random.Random) -> Iterator[str]:
    sentences = [fact.split() for pool in POOLS for fact in pool.facts if fact.isascii()]
    words = sorted({word for sentence in sentences for word in sentence})
    chance.shuffle(words)
    names = (f"{words[n % len(words)]}{n}" for n in range(NAMES))
    return map(" ".join, _varied(chance, sentences, [*ENGLISH, *words, *names]))


def _chinese(chance: random.Random) -> Iterator[str]:
    facts = [fact for pool in POOLS for fact in pool.facts if not fact.isascii()]
    sentences = [[fact[at : at + 2] for at in range(0, len(fact), 2)] for fact in facts]
    words = sorted({piece for sentence in sentences for piece in sentence if not any(map(str.isascii, piece))})
    chance.shuffle(words)
    signs = "".join(words)
    names = ("".join(chance.choices(signs, k=2)) for _ in range(NAMES))
    return map("".join, _varied(chance, sentences, [*CHINESE_CHARACTERS, *CHINESE_PAIRS, *words, *names]))


def _varied(chance: random.Random, sentences: list[list[str]], words: Iterable[str]) -> Iterator[list[str]]:
    """The sentences without an end, a third of their words others, the first of `words` the commonest."""
    words = list(words)
    weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(len(words))))
    while True:
        drawn = iter(chance.choices(words, cum_weights=weights, k=20_000))
        for sentence in chance.choices(sentences, k=500):
            yield [word if chance.random() < KEPT else next(drawn) for word in sentence]


if __name__ == "__main__":
    print(json.dumps(build(Path(sys.argv[1]), int(sys.argv[2]))))
