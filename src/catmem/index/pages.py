"""Giving back what an index's files occupy while it is written: a merge reads all of them, however large they are."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

# A merge reads about 100 MB a second: so often, it is 20 MB ahead.
_SECONDS = 0.2
# MADV_PAGEOUT: the system takes the pages now instead of when it is short of memory. What is needed again is read
# again, so it does no harm wherever it hits, even if the file was unmapped meanwhile and its place taken.
_PAGEOUT = 21


@contextlib.contextmanager
def given_back(folder: Path) -> Iterator[None]:
    """While the block runs, mapped pages of the files in `folder` leave the memory. On Linux; elsewhere it does nothing."""
    if not sys.platform.startswith("linux"):
        yield
        return
    over = threading.Event()
    thread = threading.Thread(target=_give_back_until, args=(over, str(folder.resolve())), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _give_back_until(over: threading.Event, folder: str) -> None:
    while not over.wait(_SECONDS):
        with contextlib.suppress(OSError):  # no /proc here: there is nothing to be done
            _give_back(folder)


def _give_back(folder: str) -> None:
    import ctypes  # takes longer than most writing does

    advise = ctypes.CDLL(None).madvise
    for start, length in _mapped(folder):
        advise(ctypes.c_void_p(start), ctypes.c_size_t(length), _PAGEOUT)


def _mapped(folder: str) -> Iterator[tuple[int, int]]:
    """The start and length of each file of the folder that is mapped into this process."""
    inside = os.fsencode(folder + os.sep)
    for line in Path("/proc/self/maps").read_bytes().splitlines():
        _, found, name = line.partition(inside)
        if found and b"/" not in name:
            start, end = (int(address, 16) for address in line.split(b" ", 1)[0].split(b"-"))
            yield start, end - start
