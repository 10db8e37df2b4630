"""What a client has sent and nobody has taken yet: parts in order, and a bound on how many bytes of them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from catmem.proxy.http1 import Part

# Beyond it the client is asked to wait.
_WAITING_BYTES = 512 << 10


class Inbox:
    """Parts of requests that wait to be taken. `pause` is called when there are too many bytes of them, and after."""

    def __init__(self, pause: Callable[[bool], None]) -> None:
        self._parts: deque[Part] = deque()
        self._pause = pause
        self._size = 0
        self._paused = False
        self._news = asyncio.Event()

    @property
    def is_empty(self) -> bool:
        return not self._parts

    def put(self, part: Part) -> None:
        self._parts.append(part)
        self._size += _size(part)
        self._news.set()
        if self._size > _WAITING_BYTES and not self._paused:
            self._paused = True
            self._pause(True)

    async def get(self) -> Part:
        while not self._parts:
            self._news.clear()
            await self._news.wait()
        part = self._parts.popleft()
        self._size -= _size(part)
        if self._paused and self._size < _WAITING_BYTES // 2:
            self._paused = False
            self._pause(False)
        return part


def _size(part: Part) -> int:
    """Of anything else than a body, what it takes in memory: a client may pipeline heads without end."""
    return len(part) if isinstance(part, bytes) else 1024
