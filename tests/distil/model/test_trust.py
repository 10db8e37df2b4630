"""How much a model's word weighs, by what it has shown."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from catmem.distil.judge import THRESHOLD
from catmem.distil.model.trust import LEAST, Showing, is_lifted, weight_of

COUNTS = st.tuples(st.integers(0, 9), st.integers(0, 30), st.randoms(use_true_random=False))


def showing(counts: tuple[int, int, random.Random], of_kept: float, of_hopeless: float) -> Showing:
    kept, hopeless, chance = counts
    selected, slipped = (
        sum(chance.random() < p for _ in range(n)) for n, p in ((kept, of_kept), (hopeless, of_hopeless))
    )
    return Showing(kept, selected, hopeless, slipped)


def test_a_model_that_nobody_knows_lifts_nothing_before_it_has_answered() -> None:
    assert not is_lifted(THRESHOLD - 0.001, weight_of([]))


def test_one_answer_that_selects_well_is_heard_on_what_is_nearly_kept() -> None:
    weight = weight_of([Showing(2, 2, 6, 0)])
    assert is_lifted(0.45, weight) and not is_lifted(0.15, weight)


@given(st.lists(COUNTS, min_size=40, max_size=40), st.floats(0, 1))
def test_whoever_guesses_lifts_nothing(answers: list[tuple[int, int, random.Random]], often: float) -> None:
    seen = [showing(counts, often, often) for counts in answers]
    if sum(one.hopeless for one in seen) >= 60 and sum(one.kept for one in seen) >= 20 and often >= 0.1:
        assert not is_lifted(THRESHOLD - 0.001, weight_of(seen))


def test_whoever_selects_comes_to_lift_what_little_speaks_for_and_never_less() -> None:
    chance = random.Random(3)
    seen = [showing((3, 8, chance), 0.9, 0.01) for _ in range(40)]
    assert is_lifted(0.12, weight_of(seen)) and not is_lifted(LEAST - 0.001, weight_of(seen))


@given(st.lists(COUNTS, max_size=40), st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_a_surer_sentence_needs_no_heavier_word(
    answers: list[tuple[int, int, random.Random]], less: float, more: float
) -> None:
    less, more = sorted((less, more))
    weight = weight_of([showing(counts, 0.7, 0.1) for counts in answers])
    assert is_lifted(more, weight) or not is_lifted(less, weight)
