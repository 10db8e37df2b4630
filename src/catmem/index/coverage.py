"""Whether the index holds what its watermark says: a file put back from a backup, or a segment lost, shows nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from catmem.domain.errors import CatmemError
from catmem.domain.session import SessionHeader, SessionRef
from catmem.index import layout
from catmem.index.documents import memory_records, output_records, passage_records, session_term
from catmem.index.reader import SearchReader
from catmem.index.watermark import Watermark, database_identity, forgotten_hashes
from catmem.sessions.history import History
from catmem.settings.paths import Paths
from catmem.store.memories import MemoryStore


@dataclass(frozen=True, slots=True)
class Coverage:
    """`sessions` are those of which the index lacks something that it should have by now; `memories` how many it lacks.

    `strangers` are passages of sessions that are not there. What the next search adds by itself is not counted.
    """

    sessions: tuple[SessionRef, ...] = ()
    memories: int = 0
    strangers: int = 0

    def __bool__(self) -> bool:
        return bool(self.sessions or self.memories or self.strangers)


def coverage(paths: Paths, store: MemoryStore, history: History) -> Coverage:
    """Compares the index with its sources; reads every session. Raises NotFound without an index, DataDamaged."""
    reader = SearchReader(str(paths.search))
    mark = Watermark.load(Path(layout.index_folder(str(paths.search))) / "watermark.json")
    hidden = forgotten_hashes(store)
    lacking, held, listed = [], 0, set[SessionRef]()
    for header in history.headers():
        listed.add(header.ref)
        said = reader.count("passage", session_term(header.ref.project, header.ref.key))
        held += said
        if header.ref in mark.sessions and not mark.is_behind(header):
            given = reader.count("output", session_term(header.ref.project, header.ref.key))
            if _lacks(history, header, hidden, said, given):
                lacking.append(header.ref)
    # Sessions that went are taken out by the next search, and so are the passages under their names.
    gone = sum(
        reader.count("passage", session_term(ref.project, ref.key)) for ref in mark.sessions if ref not in listed
    )
    return Coverage(
        tuple(lacking), _lacking_memories(paths, store, mark, reader), max(0, reader.count("passage") - held - gone)
    )


def _lacks(history: History, header: SessionHeader, hidden: frozenset[str], said: int, given: int) -> bool:
    wanted_said = wanted_given = 0
    try:
        for message in history.talk(header.ref):
            wanted_said += sum(1 for _ in passage_records(header.ref, message, hidden))
            if message.role == "tool" or message.tool_calls:
                wanted_given += sum(1 for _ in output_records(header.ref, message, hidden))
    except CatmemError:
        return False  # a session that cannot be read is a finding of its own
    return said < wanted_said or given < wanted_given


def _lacking_memories(paths: Paths, store: MemoryStore, mark: Watermark, reader: SearchReader) -> int:
    if (mark.database, mark.turn) != (database_identity(paths, store), store.turn()):
        return 0
    wanted = sum(len(memory_records(memory)) for memory in store.all())
    return max(0, wanted - reader.count("memory"))
