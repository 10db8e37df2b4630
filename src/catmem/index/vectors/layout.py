"""Where the vectors lie, beside the search index: what builder, reader and status must agree on; standard library only.

search/vectors/model.json       which model made them, how long they are, how far they have come
search/vectors/memory.rows      the rows of the memories; passage.rows those of what was said
search/vectors/background.rows  those of the sentences that tell what is usual: as passages, then as queries
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from catmem.index.scope import TYPES
from catmem.index.vectors.rows import RowFile
from catmem.settings.paths import write_private

# Counts up whenever rows, pieces or keys change: vectors of another number are made anew.
FORMAT = 1
FOLDER = "vectors"
BACKGROUND = "background"
# Of each type the newest: so many take a query two to five tenths of a second, and the worker some four hours.
MOST_DOCUMENTS = 200_000


@dataclass(frozen=True, slots=True)
class State:
    """What is said of the vectors; that of no vectors has no model.

    done     how many documents of each type have vectors
    seen     the states of the search index for which nothing was left to do
    trouble  why the last build ended early, in English and Chinese; empty if it did not
    """

    model: str = ""
    dimension: int = 0
    done: dict[str, int] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)
    trouble: tuple[str, str] | tuple[()] = ()


def folder_of(search: Path) -> Path:
    return search / FOLDER


def rows_of(search: Path, state: State) -> dict[str, RowFile]:
    """The files of rows by type of document."""
    return {type: RowFile(file_of(search, type), state.dimension) for type in TYPES}


def file_of(search: Path, type: str) -> Path:
    return folder_of(search) / f"{type}.rows"


def read_state(search: Path) -> State:
    """What stands in model.json; that of no vectors where it is missing, damaged or of another format. There may be
    trouble before there are any."""
    try:
        record: dict[str, Any] = json.loads((folder_of(search) / "model.json").read_bytes())
        if record.pop("format") != FORMAT:
            return State()
        trouble = tuple(map(str, record.pop("trouble")))
        state = State(**record, trouble=(trouble[0], trouble[1]) if trouble else ())
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return State()
    sound = isinstance(state.model, str) and isinstance(state.dimension, int) and state.dimension > 0
    sound = sound and isinstance(state.done, dict) and isinstance(state.seen, dict)
    return state if sound else State(trouble=state.trouble)


def write_state(search: Path, state: State) -> None:
    record = json.dumps({"format": FORMAT, **asdict(state)}, ensure_ascii=False)
    write_private(folder_of(search) / "model.json", record.encode("utf-8", "replace"))
