"""The hard end of a hook: whatever hangs, the host gets its answer in time."""

from __future__ import annotations

import os
import signal
import time

# Seconds from the start of the process. Claude Code drops a prompt's hook after 30 s and cancels SessionEnd after
# 1.5 s; a person notices a prompt that waits for half a second.
BUDGETS = {"UserPromptSubmit": 1.0, "SessionStart": 2.0, "Stop": 2.0, "PreCompact": 2.0, "SessionEnd": 1.0}
DEFAULT_BUDGET = 1.0
# Long work stops by itself this much earlier, so that its answer still gets out.
MARGIN = 0.3

_end = 0.0


def arm(event: str) -> None:
    """Ends the process with code 0 when the event's budget is used up."""
    global _end
    left = max(0.05, BUDGETS.get(event, DEFAULT_BUDGET) - _age())
    _end = time.monotonic() + left
    signal.signal(signal.SIGALRM, _leave)
    signal.setitimer(signal.ITIMER_REAL, left)


def seconds_left() -> float:
    """Until long work must stop; may be negative."""
    return _end - MARGIN - time.monotonic()


def is_near() -> bool:
    return seconds_left() <= 0


def _leave(number: int, frame: object) -> None:
    # No clean-up: it may be the clean-up that hangs. A half-written answer is no valid JSON and is ignored.
    os._exit(0)


def _age() -> float:
    """Seconds since this process was started, interpreter start-up included."""
    try:
        with open("/proc/self/stat", "rb") as file:
            started = int(file.read().rpartition(b")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return time.clock_gettime(time.CLOCK_BOOTTIME) - started
    except (OSError, ValueError, IndexError, AttributeError):
        return time.process_time()
