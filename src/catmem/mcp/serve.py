"""One client, from its first line to its end: the server between stdin and stdout, which nothing else may write to."""

from __future__ import annotations

import contextlib
import os
import signal
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
    _settle_with_terminal(language)
    wire = Wire(0, _own_stdout())
    name = f"mcp:{now()}-{os.getpid()}"
    toolbox = Toolbox(open_memory, environment, folder, name, project=project, everywhere=everywhere)
    described = [tool.described(language) for tool in TOOLS]
    with contextlib.suppress(OSError):  # A client that reads no more is gone.
        Server(wire, described, toolbox.call, INSTRUCTIONS[language]).run()
    _leave()


def _settle_with_terminal(language: str) -> None:
    """Ctrl-C in a terminal is for the client, which may stay; a person who started us there is told what this is."""
    if not os.isatty(0):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return
    en = "This serves an assistant, which starts it itself (`mem install` connects one). Ctrl-C ends it.\n"
    zh = "这是给助手用的服务，由助手自行启动（用 `mem install` 接入）。按 Ctrl-C 结束。\n"
    signal.signal(signal.SIGINT, lambda number, frame: _leave())
    os.write(2, (zh if language == "zh" else en).encode())


def _own_stdout() -> int:
    """Stdout for the protocol alone: whatever a library prints goes to stderr."""
    ours = os.dup(1)
    os.dup2(2, 1)
    return ours


def _leave() -> NoReturn:
    os._exit(0)
