"""Which prompt wants which fact: held on pools of our own, in both languages."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

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
from tests.recall.pools import ELSEWHERE, POOLS, Pool
from tests.recall.wide_pool import CLINIC

EVERY_POOL = (*POOLS, CLINIC)
THRESHOLD = Settings().semantic_match_threshold


def record(number: int, text: str, project: str) -> Record:
    return {
        "type": "memory", "id": f"m{number:04}", "text": text, "kind": "convention", "scope": "project",
        "project": project, "session": "s1", "message_id": number, "at": "2026-03-01T10:00:00.000Z",
        "instants": [1772359200000], "confirmations": 1, "pinned": False, "status": "live", "successor": f"m{number:04}",
        "words": " ".join(tokens(text)),
    }  # fmt: skip


@cache
def reader_of(pool: Pool) -> SearchReader:
    folder = mkdtemp()
    with Part(Path(layout.part_folder(folder, layout.MEMORIES))).writing() as writer:
        for number, fact in enumerate(pool.facts):
            writer.add(record(number, fact, pool.project))
    return SearchReader(folder)


def found(pool: Pool, prompt: str) -> list[int]:
    hits = find(reader_of(pool), Query(prompt), Scope(("memory",)), Weighing(1772359200000, {}, THRESHOLD), limit=3)
    return [int(hit["id"][1:]) for hit in hits]


WANTED = [(pool, prompt, wanted) for pool in EVERY_POOL for prompt, wanted in pool.wanted]
UNRELATED = [(pool, prompt) for pool in EVERY_POOL for prompt in pool.unrelated]


@pytest.mark.parametrize(("pool", "prompt", "wanted"), WANTED, ids=[prompt[:40] for _, prompt, _ in WANTED])
def test_a_prompt_finds_what_helps_it(pool: Pool, prompt: str, wanted: tuple[int, ...]) -> None:
    assert set(found(pool, prompt)) & set(wanted)


def test_the_first_is_nearly_always_the_right_one() -> None:
    right = sum(found(pool, prompt)[:1][0] in wanted for pool, prompt, wanted in WANTED)
    assert right / len(WANTED) >= 0.95


@pytest.mark.parametrize(("pool", "prompt"), UNRELATED, ids=[prompt[:40] for _, prompt in UNRELATED])
def test_small_talk_and_other_subjects_find_nothing(pool: Pool, prompt: str) -> None:
    assert found(pool, prompt) == []


def test_what_is_about_no_project_seldom_finds_anything() -> None:
    """A few share a word of the trade with a rule ("undo the last commit"); they must stay few."""
    talk = [*ELSEWHERE, *(prompt for pool in EVERY_POOL for prompt in pool.unrelated)]
    loud = [(pool.project, prompt) for pool in EVERY_POOL for prompt in talk if found(pool, prompt)]
    assert len(loud) / (len(talk) * len(EVERY_POOL)) <= 0.03, loud


@pytest.mark.parametrize("pool", EVERY_POOL, ids=lambda pool: pool.project)
def test_a_pasted_log_finds_nothing(pool: Pool) -> None:
    log = "\n".join(
        f"2026-05-{day:02} 10:{day:02}:07 INFO worker[{day * 31}] request done in {day * 7} ms status=200 path=/v1/items"
        f" user=u{day * 97} cache=miss retry={day % 3} queue=default host=node-{day}"
        for day in range(1, 29)
    )
    assert found(pool, log) == []
    trace = "\n".join(
        f'  File "/usr/lib/python3.12/site-packages/lib{n}/core.py", line {n}, in call\n    return self.run(item)'
        for n in range(40)
    )
    assert found(pool, f"Traceback (most recent call last):\n{trace}\nValueError: bad value") == []
