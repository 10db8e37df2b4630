"""How much memory something takes at its height, for tests that it does not grow with what is read."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from catmem.sessions.names import Place
from catmem.sessions.records import message_record
from tests.sessions.long import put
from tests.sessions.support import at


def peak(work: Callable[[], object]) -> int:
    """Bytes of Python's own memory, at the height, beyond what was there."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks and frames that are small beside the files of a test, as the real ones are beside a gigabyte."""
    monkeypatch.setattr("catmem.sessions.blocks.BLOCK", 1 << 16)
    monkeypatch.setattr("catmem.sessions.talk._SHORT", 1 << 16)
    monkeypatch.setattr("catmem.sessions.archive.FRAME_BYTES", 1 << 16)


def fill(place: Place, turns: int, first: int = 1) -> None:
    """A session of `turns` turns of two messages, 20 KB each."""
    for turn in range(first, first + turns):
        words = f"第 {turn} 问: why is the pool exhausted? " * 500
        put(
            place,
            message_record("user", words, at(turn), uid=f"u{turn}", parent=f"a{turn - 1}" if turn > 1 else ""),
            message_record("assistant", words, at(turn), uid=f"a{turn}", parent=f"u{turn}"),
        )
