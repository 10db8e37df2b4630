"""Tests marked `real(name, …)` need a program that is not ours.

Where it is missing they are skipped by its name and the reason; with CI=true they fail, since there a green run must
mean that they ran.
"""

from __future__ import annotations

import os

import pytest

from tests.real.programs import why_missing


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("real"):
        for name in marker.args:
            reason = why_missing(name)
            if reason is None:
                continue
            if os.environ.get("CI") == "true":
                pytest.fail(f"{name} is needed in CI: {reason}", pytrace=False)
            pytest.skip(f"{name}: {reason}")
