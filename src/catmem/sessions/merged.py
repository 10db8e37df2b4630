"""The history as merged projects show it: to ask for one is to ask for all that were merged into it."""

from __future__ import annotations

from collections.abc import Iterator

from catmem.domain.session import SessionHeader
from catmem.sessions.history import History
from catmem.settings import registry


class MergedHistory(History):
    """Sessions stay in the folder of the project that they were captured in; reading follows the registry."""

    def headers(self, project: str | None = None) -> Iterator[SessionHeader]:
        """The header of each session of a project and of those merged into it, or of all."""
        if project is None:
            yield from super().headers()
            return
        for member in registry.read(self._paths).members(project):
            yield from super().headers(member)
