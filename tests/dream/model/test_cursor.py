"""How far dreams have read: a line of the ledger beside what came of it, whatever happens to either."""

from __future__ import annotations

import json

import pytest

from tests.dream.model.models import NOTHING
from tests.dream.model.test_dreamer import APRIL, MARCH, Bed


@pytest.fixture
def bed(tmp_path) -> Bed:
    bed = Bed(tmp_path / "catmem")
    bed.learn("Run make check before each commit.", MARCH, sessions=("a",))
    bed.learn("Before committing, always run make check.", APRIL, sessions=("b",))
    return bed


def ledger(bed: Bed):
    return next(iter(bed.world.paths.ledger.glob("*.jsonl")))


@pytest.mark.parametrize(
    "cursor", ["abc", "2026-03-01", True, -1, 1.5, None, {"a": "abc"}, {"a": True}, {"a": -1}, {"a": 1.5}, []]
)
def test_a_cursor_that_is_none_is_passed_over_and_all_goes_on(bed, cursor):
    bed.digest("first")
    lines = ledger(bed).read_text().splitlines()
    record = json.loads(lines[-1])
    bad = {
        "seq": record["seq"] + 1, "at": record["at"], "device": record["device"], "op": "dream", "by": "dream",
        "job": {"project": "shop", "session": "", "first_id": 0, "last_id": 0, "recipe": "dream/1"}, "cursor": cursor,
    }  # fmt: skip
    with ledger(bed).open("a") as file:
        file.write(json.dumps(bad) + "\n" + "[]\n42\n")
    bed.store.catch_up()
    assert bed.store.dream_cursor("shop") == {} and bed.store.problems()
    model, _ = bed.dream(NOTHING)
    assert len(model.asked) == 1 and bed.store.dream_cursor("shop")
    bed.digest("second")
    model, _ = bed.dream(NOTHING)
    assert "second" in model.asked[0] and "first" not in model.asked[0]


def test_memory_and_cursor_are_of_one_instant(bed):
    """A ledger put back to any of its lines, as a backup does it, has both as they were, and a dream goes on there."""
    bed.digest("x")
    bed.dream(NOTHING | {"merge": [{"same": [1, 2]}]})
    whole = ledger(bed).read_bytes().splitlines(keepends=True)
    states = set()
    for kept in range(1, len(whole) + 1):
        ledger(bed).write_bytes(b"".join(whole[:kept]))
        bed.store.rebuild()
        states.add((len(bed.live()), bool(bed.store.dream_cursor("shop"))))
    assert (1, True) in states and (2, True) not in states
    # The operation and the cursor are two lines of one append; between them only a cut disk stops, and then the dream
    # is dreamt again, which finds nothing to merge.
    ledger(bed).write_bytes(b"".join(whole[:-1]))
    bed.store.rebuild()
    _, dreamt = bed.dream(NOTHING | {"merge": [{"same": [1, 2]}]})
    assert len(bed.live()) == 1 and not dreamt["shop"].done


def test_read_again_from_the_start_the_same_digests_change_nothing(bed):
    bed.digest("x")
    bed.dream(NOTHING | {"merge": [{"same": [1, 2]}]})
    before = bed.store.all()
    lines = [
        line
        for line in ledger(bed).read_bytes().splitlines(keepends=True)
        if b'"op":"dream"' not in line.replace(b" ", b"")
    ]
    ledger(bed).write_bytes(b"".join(lines))
    bed.store.rebuild()
    assert bed.store.dream_cursor("shop") == {}
    bed.dream(NOTHING | {"merge": [{"same": [1, 2]}], "promote": [{"memory": 1}]})
    after = bed.store.all()
    assert [(m.id, m.now.text, m.now.status) for m in after] == [(m.id, m.now.text, m.now.status) for m in before]


def test_a_hundred_digests_wait_their_turn_and_none_is_skipped(bed):
    for number in range(100):
        bed.digest(f"digest {number:03d}")
    read: list[str] = []
    for _ in range(12):
        model, _ = bed.dream(NOTHING, entries_per_run=10)
        read += [line for question in model.asked for line in question.splitlines() if "digest" in line]
    assert [line[-10:] for line in read] == [f"digest {number:03d}" for number in range(100)]


def test_a_thousand_digests_and_memories_make_no_longer_question(bed):
    from catmem.dream.model.material import DIGEST_TOKENS, MEMORY_TOKENS
    from catmem.text.cut import estimate_tokens

    for number in range(120):
        bed.learn(f"Service number {number} 的日志在 /var/log/{number}.log。", MARCH)
    for number in range(60):
        bed.digest(f"worked on service {number} 的日志 " * 8)
    model, _ = bed.dream(NOTHING, entries_per_run=1000)
    assert estimate_tokens(model.asked[0]) < (MEMORY_TOKENS + DIGEST_TOKENS) * 1.15


def test_a_thousand_repeats_and_paraphrases_are_one_line(bed):
    for number in range(1000 // 20):
        for wording in (
            "Run make check before each commit.",
            "run  make check before each commit",
            "RUN MAKE CHECK before each commit!",
        ):
            bed.learn(wording, MARCH, sessions=(f"r{number}",))
    bed.digest("x")
    bed.dream(lambda question: NOTHING | {"merge": [{"same": list(range(1, question.count("[convention]") + 1))}]})
    assert len(bed.live()) <= 2
