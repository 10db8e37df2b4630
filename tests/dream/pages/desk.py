"""A data directory with its pages, as somebody edits them between two runs."""

from __future__ import annotations

from pathlib import Path

from catmem.capture.remember import remember
from catmem.domain.clock import system_clock
from catmem.domain.memory import Kind, Scope
from catmem.dream.pages.pages import SESSION, Pages
from tests.index.world import World


class Desk:
    def __init__(self, root: Path, language: str = "en") -> None:
        self.world = World(root)
        self.store = self.world.store
        self.pages = Pages(
            self.world.paths,
            self.store,
            remember=self._remember,
            forget=lambda ids: self.store.forget(ids, "deleted from MEMORY.md"),
            redact=lambda text, source: text.replace("hunter22", "[secret:password:1]"),
            folder_of=lambda project: self.world.paths.projects / project,
            language=language,
            clock=system_clock,
        )

    def page(self, project: str = "shop") -> Path:
        paths = self.world.paths
        return paths.projects / project / "memory" / "MEMORY.md" if project else paths.memory_page

    def text(self, project: str = "shop") -> str:
        return self.page(project).read_bytes().decode()

    def edit(self, old: str, new: str, project: str = "shop") -> None:
        text = self.text(project)
        assert old in text, text
        self.page(project).write_bytes(text.replace(old, new).encode())

    def line(self, words: str, project: str = "shop") -> str:
        """The whole line with these words, and its end."""
        return next(line for line in self.text(project).splitlines(keepends=True) if words in line)

    def live(self) -> list[str]:
        return sorted(memory.now.text for memory in self.store.live())

    def _remember(self, text: str, scope: Scope, kind: Kind, project: str) -> str:
        return remember(
            self.store, text, project=project, scope=scope, kind=kind, session=SESSION,
            redact=lambda text, source: text, clock=system_clock,
        )  # fmt: skip
