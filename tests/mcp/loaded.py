"""Which modules a server has loaded by the time that it has answered some requests."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.mcp.client import environment_of


def modules_of(home: Path, requests: Sequence[Mapping[str, Any]]) -> set[str]:
    """The top-level names, and the full names of ours."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "catmem", "mcp"],
        cwd=home,
        env=environment_of(home),
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    return {name if name.startswith("catmem") else name.partition(".")[0] for name in names}
