"""What is typed while something else is shown: it is taken off the terminal, and handed to the next question.

A terminal holds some 4 KB for a program that does not read. With a longer paste in it, Ctrl-C would wait behind.
"""

from __future__ import annotations

import os
import select
import signal
import threading

_BLOCK = 65536


class TypedAhead:
    """Between `start` and `stop` a thread reads what is typed."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._thread: threading.Thread | None = None
        self._typed = bytearray()
        self._wake = (-1, -1)

    def start(self) -> None:
        if self._thread is None:
            self._wake = os.pipe()
            self._thread = threading.Thread(target=self._read, args=(self._wake[0],), daemon=True)
            self._thread.start()

    def stop(self) -> str:
        """What was typed since, each byte that is no UTF-8 as the editor reads it from the terminal, too."""
        if self._thread is None:
            return ""
        os.write(self._wake[1], b".")
        self._thread.join()
        self._thread = None
        for end in self._wake:
            os.close(end)
        typed, self._typed = bytes(self._typed), bytearray()
        return typed.decode("utf-8", "surrogateescape")

    def _read(self, woken: int) -> None:
        # Whoever waits for an answer is to hear of Ctrl-C, not this thread.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
        while True:
            ready, _, _ = select.select([self._descriptor, woken], [], [])
            if woken in ready:
                return
            try:
                typed = os.read(self._descriptor, _BLOCK)
            except OSError:
                return  # the terminal was closed
            if not typed:
                return
            self._typed += typed
