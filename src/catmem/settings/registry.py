"""Which projects are one, as the ledger says it: a small JSON file that a hook can afford to read (hot path).

    {"homes": {key: key of the project that it is part of}}
    {"names": {key: display name}, "seen": {key: [root commit, [main folders]]}}

Two lines: of a thousand projects a hook reads the few that were merged, and looks whether its own is in the second.
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
    """What is known of projects beside what their folders say. `rest` is the second line, read when it is needed."""

    __slots__ = ("_names", "_rest", "_seen", "_whole", "homes")

    def __init__(self, homes: Mapping[str, str] | None = None, rest: bytes = b"") -> None:
        self.homes = homes or {}
        self._rest = rest
        self._names: dict[str, str] | None = None
        self._seen: dict[str, tuple[str, list[str]]] = {}
        self._whole = False

    @property
    def names(self) -> Mapping[str, str]:
        """key -> what the project is called."""
        self._read_rest()
        return self._names or {}

    @property
    def seen(self) -> Mapping[str, tuple[str, Sequence[str]]]:
        """key -> (root commit, folders that were its main one)."""
        self._read_rest()
        return self._seen

    @property
    def is_whole(self) -> bool:
        """False for one that was missing or damaged, and was read as if it were empty."""
        self._read_rest()
        return self._whole

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
        if not self._rest or project.key in self.homes or _entry(project.key) in self._rest:
            return self.home(project.key)
        root = first_commit(project.root)
        return former_home(self.seen, self.homes, project.key, root, project.root, is_repository) or project.key

    def _read_rest(self) -> None:
        if self._names is not None:
            return
        self._names = {}
        try:
            record = json.loads(self._rest)
            self._names = {key: str(name) for key, name in record["names"].items()}
            self._seen = {key: (str(root), list(map(str, places))) for key, (root, places) in record["seen"].items()}
            self._whole = True
        except (ValueError, KeyError, TypeError, AttributeError):
            return


def read(places: Places | Paths) -> Registry:
    """The registry of a data directory; an empty one if it is missing or cannot be read."""
    try:
        with open(places.registry, "rb") as file:
            return decode(file.read())
    except OSError:
        return Registry()


def decode(data: bytes) -> Registry:
    """The registry of the bytes of its file; an empty one if they are damaged."""
    first, _, rest = data.partition(b"\n")
    try:
        homes = {key: str(home) for key, home in json.loads(first)["homes"].items()}
        return Registry(homes, rest.strip())
    except (ValueError, KeyError, TypeError, AttributeError):
        return Registry()


def encode(homes: Mapping[str, str], names: Mapping[str, str], seen: Mapping[str, Sequence[object]]) -> bytes:
    """The bytes of the file."""
    lines = ({"homes": homes}, {"names": names, "seen": seen})
    return "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in lines).encode(
        "utf-8", "replace"
    )


def _entry(key: str) -> bytes:
    """How the entry of a key begins in `seen`, where alone a list follows a key."""
    return f"{json.dumps(key, ensure_ascii=False)}: [".encode("utf-8", "replace")
