"""The background worker as a hook sees it: when to start one, how, and waiting a moment for one that is at it."""

from __future__ import annotations

import fcntl
import os
import sys
import time

from catmem.domain.triggers import crosses_count, is_strong
from catmem.inject.wanted import is_wanted, want
from catmem.sessions.names import file_name
from catmem.settings.places import DIRECTORY_MODE, FILE_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from catmem.settings.paths import Paths
    from catmem.settings.places import Places

# Seconds. In a coding session nearly every turn changes files, and a turn takes a minute or two. Ten minutes is what
# another window may do without its decisions, and bounds what a model is asked on the way.
CHANGES_APART = 600.0
# Seconds. A worker that has not come to work by then could not be started, and nobody waits for it.
_STARTING = 10.0


def needs_worker(places: Places, event: Mapping[str, Any], captured: Mapping[str, Any]) -> bool:
    """At a session's start (what others left undone) and end, on a strong sentence, after changes of files, every so
    many messages.

    `captured` is what capture says of the event: {"new": [ids], "text", "changes", "left", …}, or {}.
    """
    if event["name"] in ("SessionStart", "SessionEnd"):
        return True
    new = captured.get("new") or []
    if not new:
        return bool(captured.get("left"))
    if captured["left"] or is_strong(captured["text"]) or crosses_count(new[0] - 1, new[-1]):
        return True
    return bool(captured["changes"]) and is_time_for_changes(places, captured["key"])


def is_time_for_changes(places: Places, session: str) -> bool:
    """True once in CHANGES_APART for a session in which files are changed, whichever door sees it."""
    stamp, now = os.path.join(places.changes, file_name(session)), time.time()
    try:
        # A stamp of the future is of a clock that was set back.
        if 0 <= now - os.stat(stamp).st_mtime < CHANGES_APART:
            return False
    except OSError:
        pass  # The first time.
    try:
        os.makedirs(places.changes, mode=DIRECTORY_MODE, exist_ok=True)
        os.close(os.open(stamp, os.O_WRONLY | os.O_CREAT, FILE_MODE))
        os.utime(stamp, (now, now))
    except OSError:
        return False  # Without a stamp it were a worker a turn; the end of the session distils everything.
    return True


def session_in_use(event: Mapping[str, Any], captured: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(project, key) of the session that is to be distilled although it goes on, if there is one."""
    if not captured.get("new") or event["name"] == "SessionEnd":
        return []
    return [(captured["project"], captured["key"])]


def spawn_worker(places: Places | Paths, in_use: Iterable[tuple[str, str]] = ()) -> int:
    """Starts `mem work --background` and returns its process id, 0 if it could not: the next session starts one.

    It distils the sessions that have ended, and (project, key) of those `in_use`. It leaves at once if another worker is
    at it, which then starts the next.
    """
    for project, session in in_use:
        want(places, project, session)
    want(places)
    # -P: the working directory is the user's project, and its json.py is not the one that we mean.
    command = [sys.executable, "-P", "-m", "catmem", "--dir", str(places.root), "work", "--background"]
    environment = {**os.environ, "CATMEM_HELPER": "1"}
    devnull = os.devnull
    try:
        return os.posix_spawn(
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
        return 0


def wait_for_worker(places: Places | Paths, patience: float) -> None:
    """Returns when no worker is at work or wanted, or after `patience` seconds."""
    end = time.monotonic() + patience
    while (_is_at_work(places) or is_wanted(places, within=_STARTING)) and time.monotonic() < end:
        time.sleep(0.02)


def _is_at_work(places: Places | Paths) -> bool:
    try:
        descriptor = os.open(places.work_lock, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
