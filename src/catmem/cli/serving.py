"""How `mem mcp` begins. An assistant asks its model for the first time about a second after it started us, and the model
then has the tools that were listed by that time: so the plain call goes without the command-line library.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from catmem.mcp.serve import serve
from catmem.settings import snapshot
from catmem.settings.language import language_of
from catmem.settings.paths import Paths, default_root
from catmem.wiring import Catmem


def plain_options(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The options of a plain call, as `start` takes them; None for whatever else the command line must explain."""
    options: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        name, equals, value = argument.partition("=")
        if argument == "--all-projects":
            options["all_projects"] = True
        elif name in ("--dir", "--project"):
            value = value if equals else next(rest, "")
            if not value or value.startswith("-"):
                return None
            options[name[2:]] = value
        else:
            return None
    return options


def start(dir: str | Path = "", project: str | None = None, all_projects: bool = False) -> NoReturn:
    """Serves on stdin and stdout until the client is gone."""
    root = Path(dir or default_root()).expanduser()
    # The settings' own reader would load YAML.
    language = language_of((snapshot.read(Paths(root)) or {}).get("language", "auto"))
    serve(
        lambda: Catmem(root),
        language=language,
        environment=os.environ,
        folder=os.getcwd(),
        project=project,
        everywhere=all_projects,
    )
