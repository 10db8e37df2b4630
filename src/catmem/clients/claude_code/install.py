"""Registers our hooks in Claude Code's settings.json and our server in its .claude.json; or writes both as a plugin."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from catmem import __version__
from catmem.clients.installing import FileInstaller, Program, Target
from catmem.clients.json_config import JsonPart, Where
from catmem.clients.whole_ours import OwnFile
from catmem.settings.paths import Paths

CLIENT, SERVER = "claude-code", "catmem"
# Event -> seconds after which the host gives the hook up. Ours ends itself far earlier; this is for a machine that
# stands still. Without a value SessionEnd has 1.5 s for the hooks of all tools together.
TIMEOUTS = {"SessionStart": 10, "UserPromptSubmit": 5, "Stop": 10, "PreCompact": 10, "SessionEnd": 5}


def config_dir() -> Path:
    """`CLAUDE_CONFIG_DIR`, else `~/.claude`."""
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(named).expanduser() if named else Path.home() / ".claude"


def installer(paths: Paths, program: Program, folder: Path | None = None) -> FileInstaller:
    """The installer of one configuration folder."""
    home = folder or config_dir()
    settings, servers = home / "settings.json", _servers_file(home)
    server: dict[Where, object] = {("mcpServers", SERVER): {"type": "stdio", **program.server(), "env": {}}}
    parts = (
        JsonPart(settings, CLIENT, hooks=_groups(program)),
        JsonPart(servers, CLIENT, members=server),
    )
    return FileInstaller(paths, CLIENT, [Target(part.path, part) for part in parts])


def plugin(paths: Paths, program: Program, folder: Path) -> FileInstaller:
    """The installer of a plugin folder, for `claude --plugin-dir` or a marketplace of one's own."""
    about = {
        "name": SERVER,
        "version": __version__,
        "description": "Long-term memory: what was said before is known again. 长期记忆：记得以前说过的话。",
    }
    files: dict[str, Mapping[str, object]] = {
        ".claude-plugin/plugin.json": about,
        "hooks/hooks.json": {"hooks": {event: [group] for event, group in _groups(program).items()}},
        ".mcp.json": {"mcpServers": {SERVER: program.server()}},
    }
    return FileInstaller(paths, CLIENT, [_own(folder / name, content) for name, content in files.items()])


def _own(path: Path, content: Mapping[str, object]) -> Target:
    data = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    # Any of the three names us: the plugin, the hooks' command, the server.
    return Target(path, OwnFile(path, data.encode(), (b'"name": "catmem"', b"hook claude-code ", b'"catmem": {')))


def _groups(program: Program) -> dict[str, object]:
    return {
        event: {"hooks": [{"type": "command", "command": program.hook(CLIENT, event), "timeout": seconds}]}
        for event, seconds in TIMEOUTS.items()
    }


def _servers_file(folder: Path) -> Path:
    """Beside the usual folder, within any that is named: as the host looks for it."""
    usual = Path.home() / ".claude"
    is_usual = folder.resolve() == usual.resolve() and not os.environ.get("CLAUDE_CONFIG_DIR")
    return (usual.parent if is_usual else folder) / ".claude.json"
