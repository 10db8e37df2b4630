"""What the commands of the Makefile would do, as make itself tells it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is missing")


def planned(*arguments: str) -> str:
    """Nothing of the make that may have started the tests is heard."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--dry-run", "--always-make", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout


def test_the_chat_is_started_when_its_environment_is_made() -> None:
    plan = planned("start")
    assert 0 < plan.index("uv sync") < plan.index("mem start")


def test_the_programs_of_others_are_there_before_the_tests() -> None:
    plan = planned("test")
    assert 0 < plan.index("provide.sh claude-code codex gemini opencode") < plan.index("pytest")


def test_all_is_evaluated_and_no_real_model_is_asked_that_nobody_named() -> None:
    plan = planned("eval", "SHARED=labelled")
    for measure in ("bench/extraction.py", "bench.with_models", "bench.recall_quality", "bench.retrieval"):
        assert f"{measure} labelled/eval" in plan
    assert "--real" not in plan
    assert "--real http://127.0.0.1:1/v1" in planned("eval", "MODEL=http://127.0.0.1:1/v1")
