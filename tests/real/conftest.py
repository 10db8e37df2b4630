from __future__ import annotations

import pytest

from tests.real.alone import leave_the_network


@pytest.fixture(scope="session", autouse=True)
def alone() -> bool:
    """Programs of others find no network but loopback, where the machine allows that."""
    return leave_the_network()
