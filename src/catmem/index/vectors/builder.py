"""Keeping the vectors up with the search index: a little at a time, to be killed at any point and gone on with.

Which documents lack a vector is not noted anywhere but asked of the index and of the rows, so nothing can disagree. A
document is embedded outside of the lock; when its rows are written, the index is asked again whether it is still there,
so that what was forgotten meanwhile does not come back.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from filelock import FileLock, Timeout

from catmem.domain.errors import CatmemError, LockBusy, NotFound, StorageFailed
from catmem.index.documents import Record, hash_of, key_of
from catmem.index.reader import SearchReader
from catmem.index.scope import TYPES
from catmem.index.vectors.background import background_of, shipped_background
from catmem.index.vectors.layout import (
    BACKGROUND,
    MOST_DOCUMENTS,
    State,
    file_of,
    folder_of,
    read_state,
    rows_of,
    write_state,
)
from catmem.index.vectors.rows import Row, RowFile
from catmem.llm.port import Embedder, Failure
from catmem.settings.paths import FILE_MODE, Paths
from catmem.text.pieces import pieces_of, script_of

# Documents embedded between two looks at the clock: a second or so, and what a kill costs.
_BATCH = 16
# Only a batch is written under the lock.
_LOCK_WAIT = 30.0


@dataclass(frozen=True, slots=True)
class Built:
    """How many documents got vectors; `complete` if none is left without; `trouble` why the embedder failed."""

    added: int = 0
    complete: bool = True
    trouble: Failure | None = None


@dataclass(frozen=True, slots=True)
class VectorCoverage:
    """How many documents have vectors of how many that shall; `model` made them, "" for none."""

    model: str
    done: int
    wanted: int
    trouble: tuple[str, str] | tuple[()]


class VectorIndex:
    """The vectors of a data directory. All of them are derived; what is damaged or another model's is made anew."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._search = paths.search

    def build(self, embedder: Embedder, stop: Callable[[], bool] = lambda: False) -> Built:
        """Embeds what has no vector yet, memories first and the newest first, until `stop` says so.

        Does nothing, and asks the embedder nothing, if the index is as it was when nothing was left to do.
        """
        reader = SearchReader(str(self._search))
        added = 0
        try:
            seen = {type: reader.state(type) for type in TYPES}
            state = read_state(self._search)
            if (state.model, state.seen) == (embedder.model, seen) and not self._lost(state):
                return Built()
            if not any(reader.count(type) for type in TYPES):
                return Built()
            if stop():
                return Built(complete=False)
            self._begin(embedder, state)
            for type in TYPES:
                for count in self._embed(embedder, reader, type):
                    added += count
                    if stop():
                        return Built(added, complete=False)
            self._note(lambda state: replace(state, seen=seen, trouble=()))
        except NotFound:
            return Built()  # Without an index there is nothing to be found.
        except Failure as failure:
            self._note_trouble(failure)
            return Built(added, complete=False, trouble=failure)
        except OSError as error:
            raise StorageFailed(
                f"cannot write the vectors in {self._search}: {error.strerror}",
                f"无法写入 {self._search} 中的向量：{error.strerror}",
            ) from error
        return Built(added)

    def prune(self) -> int:
        """Takes out the rows of documents that are no longer in the index; says how many. No model is needed for it.

        Leaves them to a builder that holds the lock: it prunes before it begins and looks again before it writes, and a
        row without a document is never found.
        """
        state = read_state(self._search)
        if not state.model:
            return 0
        reader = SearchReader(str(self._search))
        with contextlib.suppress(LockBusy, NotFound), self._locked():
            return sum(rows.keep(reader.keys(type)) for type, rows in rows_of(self._search, state).items())
        return 0

    def rebuild(self, embedder: Embedder) -> Built:
        """Makes all vectors anew. Raises LockBusy."""
        self.clear()
        return self.build(embedder)

    def is_sound(self, embedder: Embedder) -> bool:
        """False if rows that this embedder made are damaged or gone. Reads all of them."""
        state = read_state(self._search)
        if state.model != embedder.model:
            return True
        whole = {type: len(rows.complete_keys()) for type, rows in rows_of(self._search, state).items()}
        return not self._lost(state) and all(whole[type] >= state.done.get(type, 0) for type in TYPES)

    def clear(self) -> None:
        """Takes all vectors away; the next build makes them anew. Raises LockBusy."""
        with self._locked():
            self._clear()

    def coverage(self, embedder: Embedder) -> VectorCoverage:
        """How far the vectors of this embedder have come; it is not asked for any."""
        state = read_state(self._search)
        if state.model != embedder.model:
            state = State(trouble=state.trouble)
        reader = SearchReader(str(self._search))
        try:
            wanted = sum(min(reader.count(type), MOST_DOCUMENTS) for type in TYPES)
        except CatmemError:
            wanted = 0
        if state.model and self._lost(state):
            done = sum(len(rows.complete_keys()) for rows in rows_of(self._search, state).values())
        else:
            done = sum(state.done.values())
        return VectorCoverage(state.model, min(done, wanted), wanted, state.trouble)

    # -- building --------------------------------------------------------------------------------------------------

    def _lost(self, state: State) -> bool:
        """True if rows are gone that were there: the file was deleted, or cut off."""
        if not file_of(self._search, BACKGROUND).exists():
            return True
        sizes = {type: rows.state()[1] // rows.size for type, rows in rows_of(self._search, state).items()}
        return any(sizes[type] < state.done.get(type, 0) for type in TYPES)

    def _begin(self, embedder: Embedder, state: State) -> None:
        """What another model made is of no use to this one."""
        usual = file_of(self._search, BACKGROUND)
        if state.model == embedder.model and usual.exists():
            return
        dimension, rows = shipped_background(embedder.model) or background_of(embedder)
        with self._locked():
            self._clear()
            self._paths.make(folder_of(self._search))
            RowFile(usual, dimension).append_packed(rows)
            write_state(self._search, State(embedder.model, dimension))

    def _embed(self, embedder: Embedder, reader: SearchReader, type: str) -> Iterator[int]:
        """Embeds the documents of a type batch by batch; yields how many each had."""
        newest = reader.newest_keys(type, MOST_DOCUMENTS)
        rows = rows_of(self._search, read_state(self._search))[type]
        with self._locked():
            rows.keep(reader.keys(type))
            present = rows.complete_keys()
            rows.keep(present)
        self._note_done(type, len(present))
        lacking = ((key, address) for key, address in newest if key not in present)
        while batch := list(islice(lacking, _BATCH)):
            records = reader.records_at(type, [address for _, address in batch])
            added = self._add(embedder, type, rows, records, present)
            present |= added
            self._note_done(type, len(present))
            yield len(added)

    def _add(
        self, embedder: Embedder, type: str, rows: RowFile, records: Sequence[Record], present: set[int]
    ) -> set[int]:
        """Embeds documents and writes their rows; the keys of those that are still there and that nobody else wrote."""
        before = rows.state()
        pieces = [(record, pieces_of(record["text"]) or [record["text"]]) for record in records]
        vectors = iter(embedder.embed([piece for _, parts in pieces for piece in parts], "passage"))
        made = {
            key_of(record): [
                Row(key_of(record), home_of(record), number, len(parts), script_of(piece), next(vectors))
                for number, piece in enumerate(parts)
            ]
            for record, parts in pieces
        }
        if any(len(row.vector) != rows.dimension for group in made.values() for row in group):
            raise _another_length(embedder)
        with self._locked():
            known = present if rows.state() == before else rows.complete_keys()
            added = SearchReader(str(self._search)).living(type, made) - known
            rows.append(row for key in added for row in made[key])
        return added

    def _note_done(self, type: str, count: int) -> None:
        self._note(lambda state: replace(state, done={**state.done, type: count}))

    def _note_trouble(self, failure: Failure) -> None:
        self._paths.make(folder_of(self._search))
        self._note(lambda state: replace(state, trouble=(failure.en, failure.zh)))

    def _note(self, change: Callable[[State], State]) -> None:
        with contextlib.suppress(OSError):  # It tells people how far we are, and the next build when to do nothing.
            write_state(self._search, change(read_state(self._search)))

    def _clear(self) -> None:
        if folder_of(self._search).is_dir():
            shutil.rmtree(folder_of(self._search))

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        self._paths.make(self._paths.locks)
        lock = FileLock(self._paths.locks / "vectors.lock", mode=FILE_MODE, timeout=_LOCK_WAIT)
        try:
            lock.acquire()
        except Timeout as error:
            raise LockBusy(
                "another catmem process is writing the vectors; try again in a moment",
                "另一个 catmem 进程正在写入向量；请稍后再试",
            ) from error
        try:
            yield
        finally:
            lock.release()


def home_of(record: Record) -> int:
    """The project of a document as its row names it; that of the profile is that of ""."""
    return hash_of("" if record["scope"] == "global" else record["project"])


def _another_length(embedder: Embedder) -> Failure:
    return Failure(
        f"{embedder.model} gave vectors of another length than before; `mem doctor --repair` makes all anew",
        f"{embedder.model} 给出的向量长度与之前不同；`mem doctor --repair` 会全部重建",
        remedy="another",
    )
