"""Whether the client is still there: a server must not outlive it, however it went.

A client that closes stdin is heard by who reads it. One that was killed may leave stdin open, in a process that
inherited its end; then our parent has changed, or that of the shell that it started us through.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable

# Seconds between two looks. A look costs some microseconds.
_BETWEEN = 1.0
# Programs that start another and wait for it: who started them is the client.
_LAUNCHERS = frozenset({"sh", "bash", "dash", "zsh", "fish", "ash", "busybox", "env", "uv", "uvx", "timeout", "nice"})
# Launchers in launchers; more is no client's doing.
_DEEPEST = 8


def watch_client(gone: Callable[[], None]) -> None:
    """Looks after the processes that started us, in a thread of its own, and calls `gone` when one of them went."""
    started_by = ancestors()
    threading.Thread(target=_watch, args=(started_by, gone), name="client", daemon=True).start()


def ancestors() -> list[int]:
    """Our parent, and while that is a launcher, the parent of it."""
    found = [os.getppid()]
    while len(found) < _DEEPEST and found[-1] > 1:
        name, parent = _process(found[-1])
        if name not in _LAUNCHERS or parent <= 0:
            break
        found.append(parent)
    return found


def _watch(started_by: list[int], gone: Callable[[], None]) -> None:
    while _are_there(started_by):
        time.sleep(_BETWEEN)
    gone()


def _are_there(started_by: list[int]) -> bool:
    """A process whose parent ends becomes the child of another."""
    parents = [os.getppid(), *(_process(pid)[1] for pid in started_by[:-1])]
    return parents == started_by


def _process(pid: int) -> tuple[str, int]:
    """Name and parent of a process; ("", 0) where the system has no such file to ask (then only our parent counts)."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            said = file.read()
    except OSError:
        return "", 0
    name, _, rest = said.partition("(")[2].rpartition(")")
    fields = rest.split()
    return name, int(fields[1]) if len(fields) > 1 else 0
