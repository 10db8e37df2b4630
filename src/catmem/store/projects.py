"""The projects of a data directory: what the ledger says of them, and the one way to change it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from catmem.domain.change import Change
from catmem.domain.errors import BadInput, NotFound, StorageFailed
from catmem.domain.memory import Author
from catmem.domain.projects import ProjectFacts, facts_of, homes_of, taken_back
from catmem.sessions.names import file_name, safe_key
from catmem.settings import registry
from catmem.settings.paths import Paths, write_private
from catmem.settings.registry import Registry
from catmem.store.folding import change_of
from catmem.store.memories import MemoryStore

if TYPE_CHECKING:
    from catmem.settings.workspace import Project


class Projects:
    """Readings go to the registry, a derived file; changes to the ledger, and from there into the registry."""

    def __init__(self, paths: Paths, store: MemoryStore) -> None:
        self._paths = paths
        self._store = store

    def registry(self) -> Registry:
        """The registry; made first if it is missing or damaged and there is a ledger to make it from."""
        kept = registry.read(self._paths)
        if kept.is_whole or not self._paths.ledger.is_dir():
            return kept
        try:
            return self.refresh()
        except StorageFailed:
            # A disk that cannot be written can be read: it is made each time then.
            return registry.decode(self._derived())

    def is_sound(self) -> bool:
        """Whether the registry, if there is one, is whole and says nothing that the ledgers do not say."""
        if not self._paths.registry.exists():
            return True
        kept, derived = registry.read(self._paths), registry.decode(self._derived())
        return kept.is_whole and kept.homes.items() <= derived.homes.items() and kept.seen.keys() <= derived.seen.keys()

    def refresh(self) -> Registry:
        """Writes the registry anew from the ledgers. Raises StorageFailed."""
        data = self._derived()
        try:
            self._paths.make(self._paths.run)
            if not self._paths.registry.exists() or self._paths.registry.read_bytes() != data:
                write_private(self._paths.registry, data)
        except OSError as error:
            raise StorageFailed.writing(self._paths.registry, error) from error
        return registry.decode(data)

    def facts(self) -> dict[str, ProjectFacts]:
        """What the ledger says of each project, as far as it is folded."""
        return facts_of(self._lines())

    def meant(self, said: str) -> str:
        """The key of the project that a user says: a key, even of a project that is yet to come, or a name given to one.

        A key that has something wins over a name. Raises BadInput for a name that several projects were given.
        """
        if not self._paths.ledger.is_dir():
            return said
        self._store.catch_up()
        facts = self.facts()
        named = sorted(key for key, known in facts.items() if known.name and known.name.casefold() == said.casefold())
        if not named or said in facts or self._has_something(said):
            return said
        if len(named) > 1:
            raise BadInput(
                f"{len(named)} projects are called {said!r}: {', '.join(named[:5])}; give the key",
                f"有 {len(named)} 个项目叫 {said!r}：{', '.join(named[:5])}；请给出键",
            )
        return named[0]

    def _has_something(self, key: str) -> bool:
        """Whether there are sessions or memories under this very key."""
        kept = self._store.using(
            lambda connection: connection.execute("SELECT 1 FROM memories WHERE project = ? LIMIT 1", (key,)).fetchone()
        )
        return kept is not None or (self._paths.messages / file_name(safe_key(key))).is_dir()

    def entries(self, members: Container[str] | None = None) -> list[dict[str, Any]]:
        """What an export tells of projects: which are part of others, and which the user named or has decided on.

        `members`: only of these keys.
        """
        return [
            {"key": key, "into": known.into, "name": known.name, "decided": known.decided}
            for key, known in sorted(self.facts().items())
            if (known.into or known.name or known.decided) and (members is None or key in members)
        ]

    def adopt(self, entries: Iterable[Mapping[str, Any]]) -> int:
        """Takes entries of an export; what is known of a project here stays. Returns how many were news."""
        facts = self.facts()
        changes = []
        for entry in entries:
            key = entry["key"]
            known = facts.get(key, ProjectFacts(key))
            if (entry["into"] or entry["decided"]) and not (known.into or known.decided):
                by: Author = "user" if entry["decided"] else "import"
                changes.append(_imported(by, key=key, into=entry["into"]))
            if entry["name"] and not known.name:
                changes.append(_imported("user", key=key, name=entry["name"]))
        return self._commit(changes)

    def learn(self, rows: Iterable[Mapping[str, str]], by: Author = "distiller") -> int:
        """Keeps what a job found out of projects, {"key", "label", "root", "folder", "into"}. Returns how many."""
        return self._commit([Change(0, "", "", "project", by, project=dict(row)) for row in rows])

    def merge(self, key: str, into: str) -> None:
        """Makes a project part of another. Its sessions and memories stay where they are and are read with it."""
        homes = self.registry().homes
        home = homes.get(into, into)
        if home == key or (homes.get(key) == home and self.facts()[key].into == home):
            raise BadInput(
                f"{into} is part of {key} already; take it out first: `mem project split {into}`"
                if home == key != into
                else f"{key} is in {home} already",
                f"{into} 已并入 {key}；请先拆出：`mem project split {into}`"
                if home == key != into
                else f"{key} 已在 {home} 中",
            )
        self._say(key, f"{key} is part of {home}", into=home)

    def split(self, key: str) -> str:
        """Takes a project out of the one that it was merged into, which is returned. Raises BadInput."""
        home = self.registry().homes.get(key)
        if home is None:
            raise BadInput(
                f"{key} is part of no other project; `mem project list` shows which are",
                f"{key} 没有并入其他项目；用 `mem project list` 查看",
            )
        self._say(key, f"{key} is on its own again", into="")
        return home

    def rename(self, key: str, name: str) -> None:
        """Calls a project `name`; "" gives it back the name of its folder. The key stays."""
        self._say(key, f"{key} is called {name}" if name else f"{key} has its first name again", name=name)

    def undo(self) -> str:
        """Takes back the user's last merge, split or rename. Returns the key that it was about. Raises NotFound."""
        self._store.catch_up()
        line = taken_back(self._lines())
        if line is None:
            raise NotFound("no project was merged or renamed yet", "还没有合并或重命名过项目")
        key = line.pop("key")
        self._say(key, "taken back", **line)
        return key

    def home_of(self, project: Project) -> Project:
        """The project as it is kept: of a folder that belongs to another project's, that one's key and name."""
        known = self.registry()
        home = known.home_of(project)
        return project._replace(key=home, name=known.names.get(home, project.name))

    def _derived(self) -> bytes:
        """The registry as the ledgers have it now."""
        self._store.catch_up()
        facts = self.facts()
        return registry.encode(
            homes_of(facts),
            {key: known.name or known.label for key, known in facts.items() if known.name or known.label},
            {key: (known.root, known.folders) for key, known in facts.items() if known.folders or known.decided},
        )

    def _say(self, key: str, why: str, **said: str) -> None:
        self._commit([Change(0, "", "", "project", "user", why=why, project={"key": key, **said})])

    def _commit(self, changes: list[Change]) -> int:
        if changes:
            self._store.commit(changes)
            self.refresh()
        return len(changes)

    def _lines(self) -> list[Change]:
        rows = self._store.using(
            lambda connection: connection.execute("SELECT record FROM changes WHERE op = 'project'").fetchall()
        )
        return [change_of(row[0]) for row in rows]


def _imported(by: Author, **said: str) -> Change:
    return Change(0, "", "", "project", by, why="imported", project=said)
