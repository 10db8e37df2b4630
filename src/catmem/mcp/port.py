"""What the tools need of a data directory: wiring's Catmem is one. It is opened for each call and closed after it.

A server runs for days: so it sees settings that are changed and databases that are replaced, and holds nothing open.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NamedTuple, Protocol

from catmem.domain.clock import Clock
from catmem.domain.errors import LockBusy, StorageFailed
from catmem.settings.paths import Paths

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from catmem.dream.pages.pages import Pages
    from catmem.index.writer import SearchIndex
    from catmem.mcp.caller import Caller
    from catmem.recall.recall import Recaller
    from catmem.sessions.history import History
    from catmem.settings.schema import Settings
    from catmem.settings.workspace import Project
    from catmem.store.memories import MemoryStore
    from catmem.store.projects import Projects


class Memory(Protocol):
    paths: Paths
    clock: Clock

    @property
    def settings(self) -> Settings: ...
    @property
    def language(self) -> str: ...
    @property
    def history(self) -> History: ...
    @property
    def store(self) -> MemoryStore: ...
    @property
    def projects(self) -> Projects: ...
    @property
    def index(self) -> SearchIndex: ...
    @property
    def pages(self) -> Pages: ...
    @property
    def recaller(self) -> Recaller: ...

    def redact(self, text: str, source: str) -> str: ...
    def project_of(self, cwd: str) -> Project: ...
    def close(self) -> None: ...


class Offer(NamedTuple):
    """What the preview of a forget showed: the memories with the versions that they had."""

    versions: tuple[tuple[str, int], ...]


class Asked(NamedTuple):
    """One call of a tool: on what memory, by whom, with what. `offers` are the forgets that wait for their token."""

    memory: Memory
    caller: Caller
    arguments: Mapping[str, Any]
    offers: dict[str, Offer]

    def catch_up(self) -> None:
        """Brings the index up to date; where the disk or another writer is in the way, what it has must do."""
        with contextlib.suppress(StorageFailed, LockBusy):
            self.memory.index.catch_up(self.memory.store, self.memory.history)

    def said(self, en: str, zh: str) -> str:
        """A sentence in the user's language."""
        return zh if self.memory.language == "zh" else en
