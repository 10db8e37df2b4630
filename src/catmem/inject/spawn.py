"""Starting the background worker: one short-lived process, detached from the host, that outlives the hook."""

from __future__ import annotations

import os
import sys


def spawn_worker(root: str, *arguments: str) -> None:
    """Starts `mem work --background`. It leaves at once if another worker is at it; failing to start is no fault of
    the hook's: the next session starts one."""
    command = [sys.executable, "-m", "catmem", "--dir", root, "work", "--background", *arguments]
    environment = {**os.environ, "CATMEM_HELPER": "1"}
    devnull = os.devnull
    try:
        os.posix_spawn(
            sys.executable,
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, devnull, os.O_WRONLY, 0),
            ],
            setsid=True,
        )
    except (OSError, AttributeError, NotImplementedError):
        return
