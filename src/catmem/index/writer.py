"""Keeping the index up with the ledger and the sessions: one writer at a time, and whoever is late leaves it to him."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock, Timeout

from catmem.domain.errors import CatmemError, DataDamaged, LockBusy, NotFound, StorageFailed
from catmem.domain.message import Message, is_said
from catmem.domain.session import SessionHeader, SessionRef
from catmem.index import layout
from catmem.index.documents import (
    id_term,
    memory_records,
    output_records,
    passage_records,
    session_term,
    title_record,
)
from catmem.index.part import Part, PartWriter
from catmem.index.reader import EVERY_TYPE, SearchReader
from catmem.index.scope import Scope
from catmem.index.vectors.builder import VectorIndex
from catmem.index.vectors.layout import FOLDER as VECTORS
from catmem.index.watermark import Watermark, database_identity, forgotten_hashes, state_of
from catmem.sessions.history import History
from catmem.settings.paths import FILE_MODE, Paths
from catmem.store.memories import MemoryStore

# Documents between two commits: enough to make a commit's 10 ms vanish, few enough to lose little to a kill.
BATCH = 5_000
# A forget must not be left to others; it waits for a running catch-up.
FORGET_WAIT = 30.0
# Any term will do to make tantivy open its files.
CHECK_TERM = "a"


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a catch-up did. `busy`: another process was at it, and nothing was done here."""

    memories: int = 0
    passages: int = 0
    removed: int = 0
    busy: bool = False
    problems: tuple[str, ...] = ()


class SearchIndex:
    """The search index of a data directory. Everything in it is derived; what is damaged is made anew."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._folder = Path(layout.index_folder(str(paths.search)))
        self._memories = Part(self._folder / layout.MEMORIES)
        self._passages = Part(self._folder / layout.PASSAGES)
        self._outputs = Part(self._folder / layout.OUTPUTS)
        self._vectors = VectorIndex(paths)

    def reader(self) -> SearchReader:
        return SearchReader(str(self._paths.search))

    def catch_up(self, store: MemoryStore, history: History) -> Indexed:
        """Indexes what is new since the watermark. If it is killed, the next goes on; run twice, it does nothing."""
        try:
            with self._locked(wait=0):
                try:
                    self._check()
                    return self._catch_up(store, history)
                except DataDamaged:
                    self._clear()
                    return self._catch_up(store, history)
        except LockBusy:
            return Indexed(busy=True)

    def rebuild(self, store: MemoryStore, history: History) -> Indexed:
        """Makes the index anew. Raises LockBusy if another process holds it."""
        with self._locked(wait=FORGET_WAIT):
            self._clear()
            return self._catch_up(store, history)

    def forget(self, ids: Sequence[str], phrases: Sequence[str] = ()) -> int:
        """Removes memories by id, and what they said and `phrases` from all passages, so that no file has a byte of it.

        Returns how many documents went or changed. Raises LockBusy.
        """
        if not self._folder.is_dir():
            return 0
        with self._locked(wait=FORGET_WAIT):
            try:
                gone = self._forget(ids, phrases)
                self._vectors.prune()
                return gone
            except DataDamaged:
                self._clear()
                self._vectors.clear()
                return 0

    # -- catching up ---------------------------------------------------------------------------------------------

    def _catch_up(self, store: MemoryStore, history: History) -> Indexed:
        self._remove_old_formats()
        mark = Watermark.load(self._folder / "watermark.json")
        if not all(part.exists() for part in (self._memories, self._passages, self._outputs)):
            mark = Watermark(mark.path)
        self._paths.make(self._folder)
        memories = self._index_memories(store, mark)
        passages = self._index_sessions(store, history, mark)
        removed = memories.removed + passages.removed
        if removed:
            self._vectors.prune()
        return replace(passages, memories=memories.memories, removed=removed)

    def _index_memories(self, store: MemoryStore, mark: Watermark) -> Indexed:
        store.catch_up()
        database, turn = database_identity(self._paths, store), store.turn()
        if mark.database != database or turn < mark.turn:
            self._memories.clear()
            mark.turn = 0
        if mark.turn == turn and self._memories.exists():
            return Indexed()
        added, forgotten = 0, set[str]()
        with self._memories.writing() as writer:
            for number, (_, memory) in enumerate(store.changed_since(mark.turn), 1):
                if memory.now.status == "forgotten":
                    forgotten.add(memory.id)
                else:
                    writer.replace(memory.id, memory_records(memory))
                    added += 1
                if number % BATCH == 0:
                    writer.commit()
        gone = self._forget(sorted(forgotten), ()) if forgotten else 0
        mark.database, mark.turn = database, turn
        mark.save()
        return Indexed(memories=added, removed=gone)

    def _forget(self, ids: Sequence[str], phrases: Sequence[str]) -> int:
        """What the memories said goes from the passages too: recall must not bring it back as a quotation."""
        said = {*phrases, *self._memories.texts_of(ids)}
        quoted = sum(part.scrub((), sorted(said)) for part in (self._passages, self._outputs))
        return self._memories.scrub(ids) + quoted

    def _index_sessions(self, store: MemoryStore, history: History, mark: Watermark) -> Indexed:
        # Before anything is read: what is written meanwhile makes it another.
        files = state_of(self._paths.messages)
        if files and files == mark.files and self._passages.exists():
            return Indexed()
        headers = list(history.headers(None))
        known = {header.ref for header in headers}
        behind = [header for header in headers if mark.is_behind(header)]
        deleted = [ref for ref in mark.sessions if ref not in known]
        if not behind and not deleted and self._passages.exists():
            mark.files = files
            mark.save()
            return Indexed()
        hidden = forgotten_hashes(store)
        added, uncommitted, problems = 0, 0, list[str]()
        with self._passages.writing() as passages, self._outputs.writing() as outputs:
            for ref in deleted:
                _remove_session(ref, passages, outputs)
                del mark.sessions[ref]
            for header in behind:
                try:
                    said, beside = _index_session(passages, outputs, history, header, mark, hidden)
                except CatmemError as error:
                    problems.append(f"{header.key}: {error}")
                    continue
                added, uncommitted = added + said, uncommitted + said + beside
                if uncommitted >= BATCH:
                    passages.commit()
                    outputs.commit()
                    mark.save()
                    uncommitted = 0
        mark.files = "" if problems else files
        mark.save()
        return Indexed(passages=added, removed=len(deleted), problems=tuple(problems))

    # -- plumbing ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _locked(self, wait: float) -> Iterator[None]:
        try:
            self._paths.make(self._paths.locks)
            lock = FileLock(self._paths.locks / "search.lock", mode=FILE_MODE, timeout=wait)
            lock.acquire()
        except Timeout as error:
            raise LockBusy(
                "another catmem process is writing the search index; try again in a moment",
                "另一个 catmem 进程正在更新搜索索引；请稍后再试",
            ) from error
        except OSError as error:
            raise _storage(self._paths.search, error) from error
        try:
            yield
        except OSError as error:
            raise _storage(self._paths.search, error) from error
        finally:
            lock.release()

    def _check(self) -> None:
        """Raises DataDamaged if a file of the index is missing or unreadable, which adding to it would not show."""
        reader = self.reader()
        with contextlib.suppress(NotFound):
            reader.search([(CHECK_TERM, 1.0)], Scope(EVERY_TYPE), limit=1)

    def _clear(self) -> None:
        if self._folder.is_dir():
            shutil.rmtree(self._folder)

    def _remove_old_formats(self) -> None:
        """An index of another version of catmem is of no use to this one, and it may hold what was forgotten since."""
        if self._paths.search.is_dir():
            for other in self._paths.search.iterdir():
                if other.is_dir() and other != self._folder and other.name != VECTORS:
                    shutil.rmtree(other)


def _index_session(
    passages: PartWriter,
    outputs: PartWriter,
    history: History,
    header: SessionHeader,
    mark: Watermark,
    hidden: frozenset[str],
) -> tuple[int, int]:
    """Indexes the messages of a session that the watermark has not seen: how many that were said, and others."""
    ref = header.ref
    last, counted, _ = mark.sessions.get(ref, (0, 0, ""))
    # Read twice rather than held: a session may be larger than the memory.
    if last == 0 or sum(m.id <= last for m in history.talk(ref) if _is_searched(m)) != counted:
        # Never seen, or a rewind or a purge took messages away that are indexed.
        _remove_session(ref, passages, outputs)
        last = 0
    present, new, said, titled = 0, 0, 0, not header.title
    for message in filter(_is_searched, history.talk(ref)):
        present += 1
        titled = titled or (is_said(message) and _begins(message, header.title))
        if message.id <= last:
            continue
        new, said = new + 1, said + is_said(message)
        for record in passage_records(ref, message, hidden):
            passages.replace(id_term(record), [record])
        for record in output_records(ref, message, hidden):
            outputs.replace(id_term(record), [record])
        if new % BATCH == 0:  # what waits for a commit is held in memory
            passages.commit()
            outputs.commit()
    title = title_record(header, hidden)
    outputs.replace(id_term(title), [] if titled else [title])
    mark.sessions[ref] = (header.last_id, present, header.updated_at)
    return said, new - said


def _is_searched(message: Message) -> bool:
    return is_said(message) or message.role == "tool" or bool(message.tool_calls)


def _begins(message: Message, title: str) -> bool:
    """True if the message has the title in it, as most have that were made of the first prompt: it is found by that."""
    return " ".join(title.split()).rstrip(".… ") in " ".join(message.content.split())


def _remove_session(ref: SessionRef, *writers: PartWriter) -> None:
    for writer in writers:
        writer.remove_session(session_term(ref.project, ref.key))


def _storage(path: Path, error: OSError) -> StorageFailed:
    return StorageFailed(
        f"cannot write the search index in {path}: {error.strerror}", f"无法写入搜索索引 {path}：{error.strerror}"
    )
