"""What the tests of damaged, full and killed files share: a sound session, and what is left of it."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

from catmem.sessions.file import append
from catmem.sessions.names import Place
from catmem.sessions.quarantine import bytes_of, entries
from tests.sessions.support import KEY, LISTING


def put(place: Place, *records: dict[str, Any], **settings: Any) -> Any:
    return append(place, KEY, list(records), listing={**LISTING, "title": "部署"}, **{"durability": "none", **settings})


def written(place: Place, data: bytes) -> Place:
    for old in (place.file, place.quarantine):
        Path(old).unlink(missing_ok=True)
    Path(place.file).parent.mkdir(parents=True, exist_ok=True)
    Path(place.file).write_bytes(data)
    return place


def spans(data: bytes) -> dict[int, tuple[int, int]]:
    """Where each message stands, without its newline."""
    found, start = {}, 0
    for line in data.split(b"\n"):
        if line.startswith(b'{"id":'):
            found[json.loads(line)["id"]] = (start, start + len(line))
        start += len(line) + 1
    return found


def kept(place: Place) -> list[bytes]:
    return [bytes_of(entry) for entry in entries(place.quarantine)]


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Runs `work` in a child that is killed just before its `step`-th call that touches a file. False if it ended."""
    child = os.fork()
    if child == 0:
        calls = 0

        def watched(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **named: Any) -> Any:
                nonlocal calls
                calls += 1
                if calls == step:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*args, **named)

            return call

        for name in ("open", "write", "ftruncate", "fsync", "replace", "unlink", "lseek", "close"):
            setattr(os, name, watched(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
