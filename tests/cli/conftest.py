from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.shell import Nursery, Shell


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    nursery = Nursery()
    yield nursery
    nursery.close()


@pytest.fixture
def shell(tmp_path: Path, nursery: Nursery) -> Shell:
    return Shell(tmp_path, nursery)


@pytest.fixture
def shell_in(tmp_path: Path, nursery: Nursery) -> Callable[[str], Shell]:
    """A shell in a language."""
    return lambda language: Shell(tmp_path, nursery, language)
