from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.mcp.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.fixture
def world_in(tmp_path: Path) -> Callable[[str], World]:
    """A world in a language."""
    return lambda language: World(tmp_path, language)
