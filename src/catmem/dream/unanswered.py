"""Tool calls of killed assistants: before a session is distilled, each that is over gets a result that says so.

Sessions whose calls may still be answered are remembered in run/open_calls.json, and looked at by a later run. Without
that file `mem doctor` finds them, a compaction mends them, and so does the next message of the session.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from catmem.domain.clock import Clock, system_clock
from catmem.domain.errors import CatmemError, StorageFailed
from catmem.domain.session import SessionHeader, SessionRef
from catmem.sessions.history import History
from catmem.sessions.interruption import REST_MINUTES, idle_minutes
from catmem.settings.paths import Paths, write_private


def answer_calls(
    history: History,
    paths: Paths,
    news: Iterable[SessionRef],
    *,
    clock: Clock = system_clock,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Looks at sessions with `news`, and at those remembered. Returns how many calls were given a result.

    A session that cannot be read or written is left to the step that reports it.
    """
    before = _remembered(paths)
    wanted, given, waiting = before | set(news), 0, set[SessionRef]()
    for header in [header for header in history.headers() if header.ref in wanted]:
        if stop() or not _rests(header, clock()):
            waiting.add(header.ref)
            continue
        try:
            closed, still_open = history.settle(header.ref)
        except CatmemError:
            continue
        given += closed
        if still_open:
            waiting.add(header.ref)
    if waiting != before:
        _remember(paths, waiting)
    return given


def _rests(header: SessionHeader, moment: float) -> bool:
    """Whether reading the session can be of use: nothing of it is over before."""
    return bool(header.metadata.get("ended")) or idle_minutes(header.updated_at, moment) >= REST_MINUTES


def _remembered(paths: Paths) -> set[SessionRef]:
    try:
        rows = json.loads((paths.run / "open_calls.json").read_bytes())["sessions"]
        return {SessionRef(str(row["project"]), str(row["key"])) for row in rows}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _remember(paths: Paths, refs: set[SessionRef]) -> None:
    rows = [{"project": ref.project, "key": ref.key} for ref in sorted(refs)]
    try:
        paths.make(paths.run)
        write_private(paths.run / "open_calls.json", json.dumps({"sessions": rows}).encode())
    except (OSError, StorageFailed):
        return  # the disk is full: `mem doctor` finds what is not remembered
