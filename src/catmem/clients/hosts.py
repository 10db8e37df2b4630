"""The assistants that catmem can be put into: which of them are on this machine, and their installers."""

from __future__ import annotations

import importlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catmem.clients.catalogue import CLIENTS
from catmem.clients.installing import FileInstaller, Program
from catmem.domain.errors import BadInput
from catmem.settings.paths import Paths

INSTALLABLE = tuple(name for name, row in CLIENTS.items() if row["install"])
NAMES = {
    "claude-code": "Claude Code",
    "codex": "Codex",
    "gemini": "Gemini CLI",
    "opencode": "opencode",
    "cursor": "Cursor",
}
"""How people call them."""


@dataclass(frozen=True, slots=True)
class Host:
    """An assistant on this machine: what tells that it is there, its program or its configuration folder."""

    client: str
    sign: str


def hosts() -> list[Host]:
    """The assistants on this machine, by their programs in PATH and their configuration folders."""
    found = []
    for client in INSTALLABLE:
        program = next(filter(None, map(shutil.which, CLIENTS[client]["programs"])), "")
        folder: Path = _module(client).config_dir()
        if program or folder.is_dir():
            found.append(Host(client, program or str(folder)))
    return found


def installer(
    client: str, paths: Paths, program: Program, folder: Path | None = None, *, plugin: bool = False
) -> FileInstaller:
    """The installer of a client's configuration folder, or of a plugin folder. Raises BadInput if it takes none."""
    module = _module(client)
    if plugin and (folder is None or not hasattr(module, "plugin")):
        raise BadInput(
            f"{NAMES[client]} takes no plugin folder; leave --plugin-dir out",
            f"{NAMES[client]} 没有插件文件夹；请去掉 --plugin-dir",
        )
    made: FileInstaller = (module.plugin if plugin else module.installer)(paths, program, folder)
    return made


def _module(client: str) -> Any:
    return importlib.import_module(CLIENTS[client]["install"])
