"""Tools of the speed measures: whole processes timed in pairs, and a line for each bar."""

from __future__ import annotations

import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Seconds between two looks at a running process; what it had most it keeps told, so only the last moments are missed.
_BETWEEN_LOOKS = 0.02


@dataclass(frozen=True, slots=True)
class Bar:
    """One figure against its bar. `most` tells whether the bar is a ceiling or a floor."""

    name: str
    value: float
    bar: float
    most: bool = True
    unit: str = "x"

    @property
    def met(self) -> bool:
        return self.value <= self.bar if self.most else self.value >= self.bar

    def line(self) -> str:
        sign = "<=" if self.most else ">="
        verdict = "ok  " if self.met else "MISS"
        return f"{verdict} {self.name:<72} {self.value:>9.2f} {self.unit} (bar {sign} {self.bar:g})"


def process_seconds(command: Sequence[str], stdin: bytes = b"") -> tuple[float, float]:
    """Wall and processor seconds of one process, children of its own included."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    read, write = os.pipe()
    os.write(write, stdin)
    os.close(write)
    started = time.perf_counter()
    process = subprocess.Popen(command, stdin=read, stdout=subprocess.DEVNULL, env=environment)
    os.close(read)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{command} ended with {process.returncode}")
    return wall, usage.ru_utime + usage.ru_stime


def paired_ratio(one: Callable[[], float], other: Callable[[], float], rounds: int) -> float:
    """The median of one/other, measured in turn, so that a machine that slows down slows both."""
    return statistics.median(one() / other() for _ in range(rounds))


def memory_of(pid: int | str = "self", *, what: str = "VmHWM") -> int:
    """Bytes of a process: the most that it had since it was started, or what else of /proc/PID/status.

    Not getrusage: there a process has the most of the one that started it, too.
    """
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(f"{what}:")) * 1024


def watched(command: Sequence[str]) -> tuple[bytes, float, int]:
    """What a program prints, its wall seconds, and the most bytes that it had, looked at as long as it runs."""
    started, peak = time.perf_counter(), 0
    with tempfile.TemporaryFile() as printed, subprocess.Popen(command, stdout=printed) as process:
        while process.poll() is None:
            # The line is not there any more when the program has ended and is not waited for.
            with contextlib.suppress(StopIteration):
                peak = max(peak, memory_of(process.pid))
            time.sleep(_BETWEEN_LOOKS)
        seconds = time.perf_counter() - started
        if process.returncode:
            sys.exit(f"{command} ended with {process.returncode}")
        printed.seek(0)
        return printed.read(), seconds, peak
