"""Registers our hooks and our server in the settings.json of Gemini CLI."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from catmem.clients.installing import FileInstaller, Program, Target
from catmem.clients.json_config import JsonPart, Where
from catmem.settings.paths import Paths

CLIENT = "gemini"
# Event -> milliseconds after which the host gives the hook up. PreCompress comes before every request, whether or not
# anything is compressed, and is left alone.
TIMEOUTS = {"SessionStart": 10_000, "BeforeAgent": 5_000, "AfterAgent": 10_000, "SessionEnd": 5_000}


def config_dir() -> Path:
    """`.gemini` in `GEMINI_CLI_HOME`, else in the home folder."""
    named = os.environ.get("GEMINI_CLI_HOME")
    return (Path(named).expanduser() if named else Path.home()) / ".gemini"


def installer(paths: Paths, program: Program, folder: Path | None = None) -> FileInstaller:
    """The installer of one configuration folder."""
    settings = (folder or config_dir()) / "settings.json"
    groups = {
        event: {
            "hooks": [
                {"name": "catmem", "type": "command", "command": _command(program, event), "timeout": milliseconds}
            ]
        }
        for event, milliseconds in TIMEOUTS.items()
    }
    server: dict[Where, object] = {("mcpServers", "catmem"): program.server()}
    part = JsonPart(settings, CLIENT, hooks=groups, members=server, comments=True)
    return FileInstaller(paths, CLIENT, [Target(settings, part)])


def _command(program: Program, event: str) -> str:
    """The host refuses a prompt for any exit code above 1, also for that of a program which is not there any more."""
    command = program.hook(CLIENT, event)
    return command if sys.platform == "win32" else f"{command} || true"
