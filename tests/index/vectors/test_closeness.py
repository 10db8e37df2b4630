"""How alike documents are to a query: comparable between pools of any size, queries, and languages."""

from __future__ import annotations

import numpy as np
import pytest

from catmem.index.vectors.closeness import centred, closeness, unit, usual


def vectors(count: int, seed: int) -> np.ndarray:
    return unit(np.random.default_rng(seed).normal(size=(count, 32)).astype(np.float32))


@pytest.mark.parametrize("count", [1, 3, 60, 5_000])
def test_how_alike_one_is_does_not_hang_on_the_others(count: int) -> None:
    cosines = np.random.default_rng(7).normal(0, 0.1, (count, 1)).astype(np.float32)
    cosines[0] = 0.6
    assert closeness(cosines)[0] == pytest.approx(0.6)


def test_of_several_sentences_the_one_that_fits_counts() -> None:
    cosines = np.random.default_rng(7).normal(0, 0.1, (200, 3)).astype(np.float32)
    cosines[5, 2] = 0.9
    assert closeness(cosines).argmax() == 5


def test_what_all_texts_and_all_of_a_language_have_in_common_does_not_count() -> None:
    rows, common = vectors(200, 1), vectors(3, 2)
    scripts = np.arange(200) % 2
    said = unit(0.3 * rows + common[0] + 0.7 * common[1 + scripts])
    asked = unit(0.3 * rows[7:8] + common[0] + 0.7 * common[1:2])  # what a text of the other language says
    raw = (said @ asked.T)[:, 0]
    assert scripts[raw.argsort()[-50:]].mean() < 0.1, "cosines alone are those of a language"
    sides = usual(said, scripts, said[:64], said[:64], scripts[:64])
    alike = closeness(
        centred(said, scripts, sides.passages) @ centred(asked, np.array([0]), sides.queries).T.astype(np.float32)
    )
    assert alike.argmax() == 7
