"""The hard end of a hook: whatever hangs, the host gets its answer in time."""

from __future__ import annotations

import _thread
import os
import signal
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

# Seconds from the start of the process. A person notices a prompt that waits for half a second.
BUDGETS = {"UserPromptSubmit": 1.0, "SessionStart": 2.0, "Stop": 2.0, "PreCompact": 2.0, "SessionEnd": 1.0}
DEFAULT_BUDGET = 1.0
# On a machine so busy that Python alone takes a second to start, a person waits for all else too. Words that are dropped
# may stand nowhere else, a brief that is late is missed by the whole session, and a session that was not seen to end is
# distilled much later. Within the 5 s that we register with the host; Claude Code cancels SessionEnd after 1.5 s.
BUSY_BUDGETS = {"UserPromptSubmit": 4.0, "Stop": 4.0, "SessionStart": 4.0, "SessionEnd": 1.4}
# What these do once words are kept can be left out: recall beside a prompt.
_BRING_WORDS = ("UserPromptSubmit", "Stop")
# Long work stops by itself this much earlier, so that its answer still gets out.
MARGIN = 0.3

# For the last act of a hook that is late; a disk that hangs gets no more.
_LAST_ACT = 0.1

_end = 0.0
_event = ""
_last_act: Callable[[], None] | None = None


def arm(event: str, last_act: Callable[[], None] | None = None) -> None:
    """Ends the process with code 0 when the event's budget is used up, after a try of `last_act`.

    What matters has the longer one of BUSY_BUDGETS: words until `captured` is called, the rest to its end. What may take
    long asks `seconds_left`, which knows the shorter one alone.
    """
    global _end, _event, _last_act
    _event, _last_act = event, last_act
    age = _age()
    _end = time.monotonic() + max(0.05, BUDGETS.get(event, DEFAULT_BUDGET) - age)
    signal.signal(signal.SIGALRM, _leave)
    signal.setitimer(signal.ITIMER_REAL, max(0.05, BUSY_BUDGETS.get(event, 0.0) - age, _end - time.monotonic()))


def captured(last_act: Callable[[], None] | None = None) -> None:
    """From here on only the answer can be late. Recall beside a prompt is left out at once if it is late already."""
    global _last_act
    _last_act = last_act
    if _event in _BRING_WORDS:
        signal.setitimer(signal.ITIMER_REAL, max(0.001, _end - time.monotonic()))


def seconds_left() -> float:
    """Until long work must stop; may be negative."""
    return _end - MARGIN - time.monotonic()


def is_near() -> bool:
    return seconds_left() <= 0


def _leave(number: int, frame: object) -> None:
    # No clean-up: it may be the clean-up that hangs. A half-written answer is no valid JSON and is ignored.
    try:
        if _last_act is not None:
            done = _thread.allocate_lock()
            done.acquire()
            _thread.start_new_thread(_act, (_last_act, done))
            done.acquire(timeout=_LAST_ACT)
    finally:
        os._exit(0)


def _act(last_act: Callable[[], None], done: _thread.LockType) -> None:
    try:
        last_act()
    finally:
        done.release()


def _age() -> float:
    """Seconds since this process was started, interpreter start-up included."""
    try:
        with open("/proc/self/stat", "rb") as file:
            started = int(file.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()
