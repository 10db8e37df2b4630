"""Which projects are one, as the ledger says it: a small JSON file that a hook can afford to read (hot path).

{"homes": {key: key of the project that it is part of}, "names": {key: display name},
 "seen": {key: [root commit, [main folders]]}}

It is derived: store/projects writes it. Without it every project is its own.
"""

from __future__ import annotations

import json

from catmem.domain.project import former_home
from catmem.settings.workspace import first_commit, is_repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catmem.settings.paths import Paths
    from catmem.settings.places import Places
    from catmem.settings.workspace import Project


class Registry:
    """What is known of projects beside what their folders say."""

    __slots__ = ("homes", "names", "seen")

    def __init__(
        self,
        homes: Mapping[str, str] | None = None,
        names: Mapping[str, str] | None = None,
        seen: Mapping[str, tuple[str, Sequence[str]]] | None = None,
    ) -> None:
        self.homes = homes or {}
        self.names = names or {}
        self.seen = seen or {}

    def home(self, key: str) -> str:
        """The project that a key stands for: itself, or the one that it was merged into."""
        return self.homes.get(key, key)

    def members(self, key: str) -> tuple[str, ...]:
        """All keys whose sessions and memories belong to the project of `key`, its own home first."""
        if not self.homes:
            return (key,)
        home = self.home(key)
        return (home, *sorted(part for part, of in self.homes.items() if of == home))

    def home_of(self, project: Project) -> str:
        """The project that a folder belongs to; one that has moved since it was last seen is known by its history."""
        if not self.seen or project.key in self.seen or project.key in self.homes:
            return self.home(project.key)
        root = first_commit(project.root)
        return former_home(self.seen, self.homes, project.key, root, project.root, is_repository) or project.key


def read(places: Places | Paths) -> Registry:
    """The registry of a data directory; an empty one if it is missing or cannot be read."""
    try:
        with open(places.registry, "rb") as file:
            record = json.loads(file.read())
        seen = {key: (str(root), list(folders)) for key, (root, folders) in record["seen"].items()}
        return Registry(dict(record["homes"]), dict(record["names"]), seen)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return Registry()
