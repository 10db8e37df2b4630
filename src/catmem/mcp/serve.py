"""One client, from its first line to its end: the server between stdin and stdout, which nothing else may write to."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import NoReturn

from catmem.domain.clock import now
from catmem.mcp.port import Memory
from catmem.mcp.presence import watch_client
from catmem.mcp.server import Server
from catmem.mcp.toolbox import Toolbox
from catmem.mcp.tools import INSTRUCTIONS, TOOLS
from catmem.mcp.wire import Wire


def serve(
    open_memory: Callable[[], Memory],
    *,
    language: str,
    environment: Mapping[str, str],
    folder: str,
    project: str | None = None,
    everywhere: bool = False,
) -> NoReturn:
    """Serves until the client is gone, and ends the process: a tool that still works then is killed like a hook is,
    which nothing of ours minds."""
    watch_client(_leave)
    wire = Wire(0, _own_stdout())
    name = f"mcp:{now()}-{os.getpid()}"
    toolbox = Toolbox(open_memory, environment, folder, name, project=project, everywhere=everywhere)
    described = [tool.described(language) for tool in TOOLS]
    with contextlib.suppress(OSError):  # A client that reads no more is gone.
        Server(wire, described, toolbox.call, INSTRUCTIONS[language]).run()
    _leave()


def _own_stdout() -> int:
    """Stdout for the protocol alone: whatever a library prints goes to stderr."""
    ours = os.dup(1)
    os.dup2(2, 1)
    return ours


def _leave() -> NoReturn:
    os._exit(0)
