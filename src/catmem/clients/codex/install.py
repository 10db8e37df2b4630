"""Registers our hooks in Codex's hooks.json and our server in its config.toml."""

from __future__ import annotations

import os
from pathlib import Path

from catmem.clients.installing import FileInstaller, Program, Target
from catmem.clients.json_config import JsonPart
from catmem.clients.toml_table import TomlPart
from catmem.settings.paths import Paths

CLIENT = "codex"
# Event -> seconds after which the host gives the hook up; of SessionEnd it takes no more than 3.
TIMEOUTS = {"SessionStart": 10, "UserPromptSubmit": 5, "Stop": 10, "PreCompact": 10, "SessionEnd": 3}


def config_dir() -> Path:
    """`CODEX_HOME`, else `~/.codex`."""
    named = os.environ.get("CODEX_HOME")
    return Path(named).expanduser() if named else Path.home() / ".codex"


def installer(paths: Paths, program: Program, folder: Path | None = None) -> FileInstaller:
    """The installer of one configuration folder."""
    home = folder or config_dir()
    hooks, config = home / "hooks.json", home / "config.toml"
    groups = {
        event: {"hooks": [{"type": "command", "command": program.hook(CLIENT, event), "timeout": seconds}]}
        for event, seconds in TIMEOUTS.items()
    }
    parts = (
        JsonPart(hooks, CLIENT, hooks=groups),
        TomlPart(config, "mcp_servers.catmem", program.server()),
    )
    return FileInstaller(paths, CLIENT, [Target(part.path, part) for part in parts])
