"""The hard end of a hook: whatever hangs, the host gets its answer in time."""

from __future__ import annotations

import os
import signal
import time

# Seconds from the start of the process. Claude Code drops a prompt's hook after 30 s and cancels SessionEnd after
# 1.5 s; a person notices a prompt that waits for half a second.
BUDGETS = {"UserPromptSubmit": 1.0, "SessionStart": 2.0, "Stop": 2.0, "PreCompact": 2.0, "SessionEnd": 1.0}
DEFAULT_BUDGET = 1.0


def arm(event: str) -> float:
    """Ends the process with code 0 when the event's budget is used up. Returns the moment, as time.monotonic()."""
    budget = BUDGETS.get(event, DEFAULT_BUDGET)
    left = max(0.05, budget - _age())
    signal.signal(signal.SIGALRM, _leave)
    signal.setitimer(signal.ITIMER_REAL, left)
    return time.monotonic() + left


def disarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0)


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
