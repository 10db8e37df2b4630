"""The parts of an index, opened (hot path): that takes milliseconds of a long history, so a part stays open until one of
its files is another."""
# ruff: noqa: PTH (pathlib would cost the hook 4 ms)

from __future__ import annotations

import os

import tantivy

from catmem.index import layout
from catmem.index.failures import translate
from catmem.settings.places import state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Opened:
    __slots__ = ("_parts", "_search")

    def __init__(self, search: str) -> None:
        """`search` is the folder `search/` of the data directory."""
        self._search = search
        self._parts: dict[str, tuple[Any, Any, object]] = {}

    def part(self, name: str) -> tuple[Any, Any]:
        """The schema of a part and what searches it. Raises NotFound and DataDamaged."""
        if name not in self._parts:
            folder = layout.part_folder(self._search, name)
            try:
                try:
                    self._parts[name] = _open(folder)
                except ValueError:
                    # A writer may have put new files in the place of those that were about to be opened.
                    self._parts[name] = _open(folder)
            except BaseException as error:
                translate(error)
        schema, searcher, _ = self._parts[name]
        return schema, searcher

    def drop_changed(self) -> None:
        """What has another file by now is opened anew when it is next asked for."""
        for name, (_, _, files) in list(self._parts.items()):
            if _files(layout.part_folder(self._search, name)) != files:
                del self._parts[name]

    def drop(self) -> None:
        self._parts.clear()


def _open(folder: str) -> tuple[Any, Any, object]:
    # Looked at before: what changes in between is opened once more.
    files = _files(folder)
    # Not kept itself: by a thread of its own it would open what a writer commits, whoever asks for it or not.
    index = tantivy.Index.open(folder)
    return index.schema, index.searcher(), files


def _files(folder: str) -> object:
    """What tells the files of a folder from others; a file that was cut short must not be read through its old map."""
    try:
        with os.scandir(folder) as entries:
            return {entry.name: state_of(entry.stat()) for entry in entries}
    except OSError:
        return None
