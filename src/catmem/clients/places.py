"""Where the histories of each client lie on this machine, as the catalogue names the folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from catmem.clients.catalogue import CLIENTS

_VARIABLE = re.compile(r"\$([A-Z_]+)(?=/|\Z)")


def places_of(
    client: str, *, home: Path, environment: Mapping[str, str], workspaces: Iterable[Path] = ()
) -> list[Path]:
    """The files and folders that exist, each once; `workspaces` are where to look for what lies in a project."""
    found: dict[Path, Path] = {}
    for folder in CLIENTS[client]["folders"]:
        for path in _named(folder, home, environment, list(workspaces)):
            try:
                if path.exists():
                    found.setdefault(path.resolve(), path)
            except OSError:
                continue  # not ours to look into
    return list(found.values())


def _named(folder: str, home: Path, environment: Mapping[str, str], workspaces: list[Path]) -> Iterator[Path]:
    if folder.startswith("./"):
        yield from (workspace / folder[2:] for workspace in workspaces)
        return
    if folder.startswith("~/"):
        root, rest = home, folder[2:]
    else:
        match = _VARIABLE.match(folder)
        value = environment.get(match[1], "") if match else ""
        if not match or not value:
            return
        root, rest = Path(value), folder[match.end() :].lstrip("/")
    if "*" not in rest:
        yield root / rest
        return
    try:
        yield from sorted(root.glob(rest))
    except OSError:
        return


def enclosing(folder: Path) -> list[Path]:
    """A folder and those above it, up to the root of its repository."""
    around = [folder, *folder.parents]
    root = next((number for number, path in enumerate(around) if (path / ".git").exists()), 0)
    return around[: root + 1]
