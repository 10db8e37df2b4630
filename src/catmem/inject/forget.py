"""Forgetting memories wherever their words stand: ledger and database, index, digests, what sessions were told.

With `purge` the sentences go from the raw sessions, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import TYPE_CHECKING, Protocol

from catmem.distil.model.proposals import Proposals
from catmem.distil.model.record import Record
from catmem.domain.errors import StorageFailed
from catmem.domain.memory import Memory
from catmem.domain.session import SessionRef
from catmem.inject import told
from catmem.sessions.digests import forget as forget_in_digests
from catmem.settings.paths import Paths
from catmem.text.tokens import query_tokens, tokens

if TYPE_CHECKING:
    from catmem.dream.pages.pages import Pages
    from catmem.index.writer import SearchIndex
    from catmem.sessions.history import History
    from catmem.settings.schema import Settings
    from catmem.store.memories import MemoryStore


class Everything(Protocol):
    """All places of a data directory that hold words; wiring's Catmem is one."""

    paths: Paths

    @property
    def settings(self) -> Settings: ...
    @property
    def store(self) -> MemoryStore: ...
    @property
    def history(self) -> History: ...
    @property
    def index(self) -> SearchIndex: ...
    @property
    def pages(self) -> Pages: ...


def forget(
    places: Everything, chosen: Sequence[Memory], *, purge: bool = False, why: str, rewrite_pages: bool = True
) -> int:
    """Removes memories everywhere that we keep them; returns how many messages were purged.

    `rewrite_pages` is False for who is about to do that.
    """
    _ = places.settings  # Broken ones must stop it before anything is gone, not in the midst.
    places.store.forget([memory.id for memory in chosen], why)
    purged = 0
    if purge:
        for e in sorted({e for memory in chosen for revision in memory.revisions for e in revision.evidence}):
            ref = SessionRef(e.project, e.session)
            if places.history.exists(ref):
                purged += places.history.purge(ref, e.quote)
    quotes = {e.quote for memory in chosen for revision in memory.revisions for e in revision.evidence}
    _forget_digests(places.paths, chosen, quotes)
    if purge:
        places.history.write_index()  # It shows how sessions begin.
    places.index.forget([memory.id for memory in chosen], sorted(quotes) if purge else ())
    places.index.catch_up(places.store, places.history)
    _forget_answers(places.paths, chosen)
    _forget_told(places.paths, {memory.id for memory in chosen})
    if rewrite_pages:
        places.pages.write()
    return purged


def with_words(memories: Iterable[Memory], words: str) -> list[Memory]:
    """Those of the memories in which every word stands; none for no word."""
    wanted = set(query_tokens(words))
    return [memory for memory in memories if wanted and wanted <= set(tokens(memory.now.text))]


def _forget_digests(paths: Paths, chosen: Sequence[Memory], quotes: Set[str]) -> None:
    """A digest may tell it in the words of the memory as well as of the user."""
    phrases = {*quotes, *(revision.text for memory in chosen for revision in memory.revisions)}
    for project in {e.project for memory in chosen for revision in memory.revisions for e in revision.evidence}:
        forget_in_digests(paths, project, phrases)


def _forget_answers(paths: Paths, chosen: Sequence[Memory]) -> None:
    """A model's answer that waits for review, or for its commit, may quote it."""
    refs = {
        SessionRef(e.project, e.session)
        for memory in chosen
        for revision in memory.revisions
        for e in revision.evidence
    }
    Record(paths).forget(refs)
    for ref in refs:
        Proposals(paths).settled(ref)


def _forget_told(paths: Paths, ids: Set[str]) -> None:
    """What a session was told holds the words."""
    try:
        told.forget(paths, ids)
    except OSError as error:
        raise StorageFailed(
            f"cannot take the words out of {paths.told}: {error.strerror}; forget again",
            f"无法从 {paths.told} 中删去内容：{error.strerror}；请重试",
        ) from error
