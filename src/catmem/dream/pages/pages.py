"""The pages of a data directory: what the user changed there becomes memory, then they are written anew."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from catmem.domain.change import Change
from catmem.domain.clock import Clock, now
from catmem.domain.errors import CatmemError, StorageFailed
from catmem.domain.memory import Claim, Evidence, Kind, Memory, Scope
from catmem.dream.pages import text
from catmem.dream.pages.contents import ALL_HEADINGS, Contents, contents_of
from catmem.dream.pages.edits import Edits, edits_of, token_of, written_of
from catmem.sessions.names import file_name
from catmem.settings.paths import Paths, in_the_way, write_private
from catmem.store.memories import MemoryStore

SESSION = "MEMORY.md"
"""What stands as the session of words that were written by hand."""

# How often a page that is being edited meanwhile is read again; after that the next run has it.
_ATTEMPTS = 5

Forget = Callable[[Sequence[str]], None]
"""Removes the memories with these ids everywhere."""
Remember = Callable[[str, Scope, Kind, str], str]
"""Saves a text as the user's own, pinned: (text, scope, kind, project) -> id. Raises BadInput for what cannot be one."""


@dataclass(frozen=True, slots=True)
class Merged:
    """How many changes of the user's a run took over, and how many pages it wrote."""

    edits: int = 0
    written: int = 0


class Pages:
    """`folder_of` gives the folder that a project's page belongs in; `redact` is the door of every written text."""

    def __init__(
        self,
        paths: Paths,
        store: MemoryStore,
        *,
        remember: Remember,
        forget: Forget,
        redact: Callable[[str, str], str],
        folder_of: Callable[[str], Path],
        language: str,
        clock: Clock,
    ) -> None:
        self._paths = paths
        self._store = store
        self._remember = remember
        self._forget = forget
        self._redact = redact
        self._folder_of = folder_of
        self._language = language
        self._clock = clock

    def merge(self) -> int:
        """Takes over what the user changed on any page; returns how many changes. Run twice, it does nothing.

        Raises what the store raises.
        """
        self._store.catch_up()
        edits = 0
        for project in self._projects():
            with contextlib.suppress(UnicodeError):  # see `unreadable`
                page = _read(self._path(project))
                edits += self._take(project, page) if page else 0
        return edits

    def write(self) -> Merged:
        """Merges, then writes each page that does not show the memory as it stands.

        A page that somebody changes meanwhile is merged again before it is written. One that is no text is left alone.
        """
        self._store.catch_up()
        edits = written = 0
        for project in self._projects():
            with contextlib.suppress(UnicodeError):
                took, wrote = self._bring_up(project, self._path(project))
                edits, written = edits + took, written + wrote
        return Merged(edits, written)

    def missing(self) -> list[Path]:
        """The pages that were written once and are not there."""
        self._store.catch_up()
        return [
            path
            for project in self._projects()
            if self._written(project) and not (path := self._path(project)).exists()
        ]

    def unreadable(self) -> list[Path]:
        """The pages that are no text: nobody knows what the user meant, so they are left alone."""
        found = []
        for path in map(self._path, self._projects()):
            try:
                _text(path)
            except UnicodeError:
                found.append(path)
        return found

    def _bring_up(self, project: str, path: Path) -> tuple[int, int]:
        edits = 0
        for _ in range(_ATTEMPTS):
            found = _text(path)
            page = text.read(found or "", ALL_HEADINGS)
            edits += self._take(project, page) if found is not None else 0
            contents = self._contents(project)
            if not contents.sections and not page.token and not page.bullets:
                return edits, 0  # a page of the user's alone, or none
            rendered = _rendered(page, contents)
            # First what we are about to write: killed between the two, the page is not the one that is meant, and
            # nothing that it lacks counts as deleted.
            self._keep(project, contents)
            if rendered == found:
                return edits, 0
            if self._replace(path, found, rendered):
                return edits, 1
        return edits, 0

    def _take(self, project: str, page: text.Page) -> int:
        """Makes the user's changes of one page memory; returns how many."""
        memories = {memory.id: memory for memory in self._store.all()}
        edits = edits_of(page, self._written(project), memories, profile=not project)
        if not edits:
            return 0
        for id, wording in edits.changed.items():
            self._change(memories[id], wording)
        if edits.deleted:
            self._forget(edits.deleted)
        return len(edits.changed) + len(edits.deleted) + self._add(project, edits)

    def _change(self, memory: Memory, wording: str) -> None:
        at = now(self._clock)
        kept = self._redact(wording, "said")
        revision = memory.now
        claim = Claim(
            id=memory.id,
            scope=revision.scope,
            project=memory.project,
            kind=revision.kind,
            subject=revision.subject,
            predicate=revision.predicate,
            object=kept,
            text=kept,
            valid_from=at,
            confidence=1.0,
            tags=revision.tags,
            evidence=(Evidence(at, memory.project, SESSION, 0, kept),),
        )
        self._store.commit([Change(0, at, "", "edit", "user", why="edited in MEMORY.md", claims=(claim,))])

    def _add(self, project: str, edits: Edits) -> int:
        count = 0
        for added in edits.added:
            scope: Scope = "project" if project else "global"
            try:
                self._remember(added.text, scope, added.kind, project)
            except CatmemError as error:
                if isinstance(error, StorageFailed):
                    raise
                continue  # nothing but private text, or far too long: no memory can be made of it
            count += 1
        return count

    def _projects(self) -> list[str]:
        """The profile, as "", and every project."""
        return ["", *self._store.projects()]

    def _contents(self, project: str) -> Contents:
        if project:
            memories: Iterable[Memory] = self._store.live(project, with_global=False)
        else:
            memories = (memory for memory in self._store.live() if memory.now.scope == "global")
        return contents_of(memories, profile=not project, language=self._language)

    def _path(self, project: str) -> Path:
        return self._folder_of(project) / "memory" / "MEMORY.md" if project else self._paths.memory_page

    def _replace(self, path: Path, found: str | None, rendered: str) -> bool:
        """Writes a page unless it was changed since it was read."""
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            mode = path.stat().st_mode & 0o777 if path.exists() else None
            if _text(path) != found:
                return False
            write_private(path, rendered.encode("utf-8"))
            if mode is not None:
                path.chmod(mode)
            return True
        except OSError as error:
            raise StorageFailed.writing(path, error) from error

    def _state_file(self, project: str) -> Path:
        return self._paths.run / "pages" / f"{file_name(project) if project else '_profile'}.json"

    def _written(self, project: str) -> Mapping[str, str]:
        try:
            state = json.loads(self._state_file(project).read_bytes())
        except (OSError, ValueError):
            return {}
        if not isinstance(state, dict):
            return {}
        return {id: digest for id, digest in state.items() if isinstance(id, str) and isinstance(digest, str)}

    def _keep(self, project: str, contents: Contents) -> None:
        written = written_of(contents)
        if written == self._written(project):
            return
        path = self._state_file(project)
        try:
            self._paths.make(path.parent)
            write_private(path, json.dumps(written, sort_keys=True).encode("ascii"))
        except OSError as error:
            raise StorageFailed.writing(path, error) from error


def _rendered(page: text.Page, contents: Contents) -> str:
    return text.write(page, contents.sections, contents.title, contents.note, token_of(written_of(contents)))


def _read(path: Path) -> text.Page | None:
    found = _text(path)
    return None if found is None else text.read(found, ALL_HEADINGS)


def _text(path: Path) -> str | None:
    """The page as text, None if there is none. Raises UnicodeError if it is not UTF-8, StorageFailed."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except NotADirectoryError as error:
        raise in_the_way(path.parent) from error
    except OSError as error:
        raise StorageFailed(
            f"cannot read {path}: {error.strerror}; mend its permissions, or move it away",
            f"无法读取 {path}：{error.strerror}；请检查权限，或把它移走",
        ) from error
