"""Registers our hooks in Cursor's hooks.json and our server in its mcp.json."""

from __future__ import annotations

from pathlib import Path

from catmem.clients.installing import FileInstaller, Program, Target
from catmem.clients.json_config import JsonPart, Where
from catmem.settings.paths import Paths

CLIENT = "cursor"
EVENTS = ("sessionStart", "beforeSubmitPrompt", "stop")


def config_dir() -> Path:
    return Path.home() / ".cursor"


def installer(paths: Paths, program: Program, folder: Path | None = None) -> FileInstaller:
    """The installer of one configuration folder."""
    home = folder or config_dir()
    hooks, servers = home / "hooks.json", home / "mcp.json"
    entries = {event: {"command": program.hook(CLIENT, event)} for event in EVENTS}
    server: dict[Where, object] = {("mcpServers", "catmem"): program.server()}
    parts = (
        JsonPart(hooks, CLIENT, hooks=entries, defaults={"version": 1}, comments=True),
        JsonPart(servers, CLIENT, members=server, comments=True),
    )
    return FileInstaller(paths, CLIENT, [Target(part.path, part) for part in parts])
