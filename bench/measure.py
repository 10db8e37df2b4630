"""Tools of the speed measures: whole processes timed in pairs, and a line for each bar."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


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
