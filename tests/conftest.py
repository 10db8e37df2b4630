"""Tests marked `real(name, …)` need a program that is not ours. Where it is missing they are skipped by its name and the
reason; with CI=true they fail, since there a green run must mean that they ran."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

CACHE = Path(__file__).parents[1] / ".cache"
CLAUDE_CODE = CACHE / "clients" / "claude-code" / "claude"


def _fetched(name: str, program: Path) -> str | None:
    if os.access(program, os.X_OK):
        return None
    noted = CACHE / "missing" / name
    return noted.read_text().strip() if noted.exists() else f"not fetched yet: run tools/provide.sh {name}"


def _mount_namespace() -> str | None:
    """A read-only or a full disk is a mount that only the tested processes see."""
    probe = "unshare -m true || unshare -rm true"
    done = subprocess.run(["sh", "-c", probe], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


# What a test may ask for, and how to find out why it is not there (None: it is).
PROGRAMS: dict[str, Callable[[], str | None]] = {
    "claude-code": lambda: _fetched("claude-code", CLAUDE_CODE),
    "mount-namespace": _mount_namespace,
}
_known: dict[str, str | None] = {}


def why_missing(name: str) -> str | None:
    if name not in _known:
        _known[name] = PROGRAMS[name]()
    return _known[name]


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("real"):
        for name in marker.args:
            reason = why_missing(name)
            if reason is None:
                continue
            if os.environ.get("CI") == "true":
                pytest.fail(f"{name} is needed in CI: {reason}", pytrace=False)
            pytest.skip(f"{name}: {reason}")
