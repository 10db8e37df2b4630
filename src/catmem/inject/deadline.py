"""The hard end of a hook: whatever hangs, the host gets its answer in time."""

from __future__ import annotations

import _thread
import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds from the start of the process. Claude Code drops a prompt's hook after 30 s and cancels SessionEnd after
# 1.5 s; a person notices a prompt that waits for half a second.
BUDGETS = {"UserPromptSubmit": 1.0, "SessionStart": 2.0, "Stop": 2.0, "PreCompact": 2.0, "SessionEnd": 1.0}
DEFAULT_BUDGET = 1.0
# Until a prompt or a reply is kept: on a machine so busy that Python alone takes a second to start, a person waits for
# all else too, and words that are dropped may stand nowhere else. Within the 5 s that we register with the host.
CAPTURE_BUDGET = 4.0
_BRINGS_WORDS = ("UserPromptSubmit", "Stop")
# Long work stops by itself this much earlier, so that its answer still gets out.
MARGIN = 0.3

# For a note of what was cut off; a disk that hangs gets no more.
_NOTE = 0.1

_end = 0.0
_note: Callable[[], None] | None = None


def arm(event: str, note: Callable[[], None] | None = None) -> None:
    """Ends the process with code 0 when the event's budget is used up, after a try of `note` to write that down.

    Words have CAPTURE_BUDGET until `captured` is called.
    """
    global _end, _note
    _note = note
    age = _age()
    _end = time.monotonic() + max(0.05, BUDGETS.get(event, DEFAULT_BUDGET) - age)
    signal.signal(signal.SIGALRM, _leave)
    kept = CAPTURE_BUDGET - age if event in _BRINGS_WORDS else 0.0
    signal.setitimer(signal.ITIMER_REAL, max(0.05, kept, _end - time.monotonic()))


def captured() -> None:
    """From here on only the answer can be late, and that is no loss. Leaves at once if it is late already."""
    global _note
    _note = None
    signal.setitimer(signal.ITIMER_REAL, max(0.001, _end - time.monotonic()))


def seconds_left() -> float:
    """Until long work must stop; may be negative."""
    return _end - MARGIN - time.monotonic()


def is_near() -> bool:
    return seconds_left() <= 0


def _leave(number: int, frame: object) -> None:
    # No clean-up: it may be the clean-up that hangs. A half-written answer is no valid JSON and is ignored.
    try:
        if _note is not None:
            noted = _thread.allocate_lock()
            noted.acquire()
            _thread.start_new_thread(_write, (_note, noted))
            noted.acquire(timeout=_NOTE)
    finally:
        os._exit(0)


def _write(note: Callable[[], None], noted: _thread.LockType) -> None:
    try:
        note()
    finally:
        noted.release()


def _age() -> float:
    """Seconds since this process was started, interpreter start-up included."""
    try:
        with open("/proc/self/stat", "rb") as file:
            started = int(file.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()
