"""A data directory and a store on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from catmem.ledger.ledger import Ledger
from catmem.settings.paths import Paths
from catmem.store.memories import MemoryStore


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "data")


@pytest.fixture
def store(paths: Paths) -> Iterator[MemoryStore]:
    made = MemoryStore(paths, Ledger(paths))
    yield made
    made.close()
