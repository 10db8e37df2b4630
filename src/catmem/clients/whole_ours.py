"""A file that is ours from its first line to its last, in a folder of an assistant."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from catmem.clients.installing import refused


@dataclass(frozen=True, slots=True)
class OwnFile:
    """An Edit of such a file. One of the `marks` stands in each version; without it this is somebody else's."""

    path: Path
    content: bytes
    marks: tuple[bytes, ...]

    def has(self, data: bytes) -> bool:
        return data == self.content

    def put(self, data: bytes) -> bytes:
        if data.strip() and not self._is_ours(data):
            raise refused(self.path, "it is not ours")
        return self.content

    def take(self, data: bytes) -> bytes:
        return b"" if self._is_ours(data) else data

    def is_empty(self, data: bytes) -> bool:
        return not data

    def _is_ours(self, data: bytes) -> bool:
        return any(mark in data for mark in self.marks)
