"""Asking the index for who can have it made anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from catmem.domain.errors import DataDamaged
from catmem.index.reader import SearchReader

_Answer = TypeVar("_Answer")


def ask_mending(reader: SearchReader, ask: Callable[[], _Answer], mend: Callable[[], object] | None) -> _Answer:
    """The answer of the index as it is now. If it cannot be read, `mend` makes it anew and it is asked again.

    Before that it is asked a second time: another process may have replaced its files while we opened them.
    Raises DataDamaged without `mend`, or if that was of no help.
    """
    reader.refresh()
    for remedy in (_wait_for_nothing, *((mend,) if mend else ())):
        try:
            return ask()
        except DataDamaged:
            remedy()
        reader.reload()
    return ask()


def _wait_for_nothing() -> None:
    pass
