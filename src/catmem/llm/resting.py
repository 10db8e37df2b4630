"""Which model is left alone, and until when; kept in a file, so that each short-lived worker need not find it out."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

from catmem.domain.clock import Clock, system_clock
from catmem.llm.failures import LONGEST_REST
from catmem.settings.paths import write_private


class Rests:
    """By key of a model; in memory only without a `file`. The file is a help and no more: it may be gone or damaged.

    Two processes that write at once may lose one of two rests; that model is then asked once more.
    """

    def __init__(self, file: Path | None = None, clock: Clock = system_clock) -> None:
        self._file = file
        self._clock = clock
        self._until: dict[str, float] = {}

    def left(self, key: str) -> float:
        """For how many seconds a model had better be left alone; 0 if it may be asked."""
        left = self._read().get(key, 0.0) - self._clock()
        # A longer one was written before the clock was set back.
        return left if 0 < left <= LONGEST_REST else 0.0

    def rest(self, key: str, seconds: float) -> None:
        self._change(key, self._clock() + min(seconds, LONGEST_REST))

    def wake(self, key: str) -> None:
        if key in self._read():
            self._change(key, None)

    def _change(self, key: str, until: float | None) -> None:
        now = self._clock()
        kept = {name: end for name, end in self._read().items() if name != key and end > now}
        self._until = kept if until is None else {**kept, key: until}
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_private(self._file, json.dumps({"resting": self._until}).encode())

    def _read(self) -> dict[str, float]:
        if self._file is not None:
            try:
                known = json.loads(self._file.read_bytes())["resting"]
                self._until = {str(key): float(until) for key, until in known.items()}
            except (OSError, ValueError, TypeError, KeyError, AttributeError):
                self._until = {}
        return self._until
