"""Puts our plugin into opencode's configuration folder and our server into its opencode.json."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path

from catmem.clients.installing import FileInstaller, Program, Target
from catmem.clients.json_config import JsonPart, Where
from catmem.clients.whole_ours import OwnFile
from catmem.settings.paths import Paths

CLIENT = "opencode"
_MARK = b"catmem for opencode"
# Stands in the plugin for the words of our command.
_COMMAND = b'["mem", "hook", "opencode", "EVENT"]'
# The host reads both; the first that is there is the user's.
_CONFIGS = ("opencode.json", "opencode.jsonc")


def config_dir() -> Path:
    """`OPENCODE_CONFIG_DIR`, else `opencode` in `XDG_CONFIG_HOME` or `~/.config`."""
    if named := os.environ.get("OPENCODE_CONFIG_DIR"):
        return Path(named).expanduser()
    base = os.environ.get("XDG_CONFIG_HOME")
    return (Path(base).expanduser() if base else Path.home() / ".config") / "opencode"


def installer(paths: Paths, program: Program, folder: Path | None = None) -> FileInstaller:
    """The installer of one configuration folder."""
    home = folder or config_dir()
    plugin = home / "plugin" / "catmem.js"
    config = next((home / name for name in _CONFIGS if (home / name).exists()), home / _CONFIGS[0])
    server: dict[Where, object] = {
        ("mcp", "catmem"): {"type": "local", "command": program.server_words(), "enabled": True}
    }
    parts = (
        OwnFile(plugin, plugin_text(program), (_MARK,)),
        JsonPart(config, CLIENT, members=server, comments=True),
    )
    return FileInstaller(paths, CLIENT, [Target(part.path, part) for part in parts])


def plugin_text(program: Program) -> bytes:
    """The plugin, which calls this program."""
    template = files("catmem.clients.opencode").joinpath("plugin.js").read_bytes()
    words = json.dumps(program.hook_words(CLIENT, "EVENT"), ensure_ascii=False)
    return template.replace(_COMMAND, words.encode("utf-8", "surrogatepass"))
