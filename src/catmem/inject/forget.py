"""Forgetting memories wherever their words stand: ledger and database, index, digests, what sessions were told.

With `purge` the sentences go from the raw sessions, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence, Set
from typing import TYPE_CHECKING, Protocol

from catmem.distil.model.proposals import Proposals
from catmem.distil.model.record import Record
from catmem.domain.errors import StorageFailed
from catmem.domain.memory import Memory
from catmem.domain.session import SessionRef
from catmem.inject import told
from catmem.sessions.digests import forget as forget_in_digests
from catmem.sessions.upkeep import pattern_of
from catmem.settings.paths import Paths, remove_leftovers
from catmem.text.tokens import query_tokens, tokens

if TYPE_CHECKING:
    from catmem.dream.pages.pages import Pages
    from catmem.index.writer import SearchIndex
    from catmem.sessions.history import History
    from catmem.settings.schema import Settings
    from catmem.store.memories import MemoryStore


class Said(Protocol):
    """A sentence of a conversation; `place` is its message, as `key#12`."""

    @property
    def ref(self) -> SessionRef: ...
    @property
    def text(self) -> str: ...
    @property
    def place(self) -> str: ...


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
    evidence = {e for memory in chosen for revision in memory.revisions for e in revision.evidence}
    quotes = {e.quote for e in evidence}
    phrases = {*quotes, *(revision.text for memory in chosen for revision in memory.revisions)}
    purged = 0
    if purge:
        said = {(e.project, e.session, e.quote) for e in evidence}
        purged = _purge(places.history, ((SessionRef(project, key), quote) for project, key, quote in sorted(said)))
    for project in {e.project for e in evidence}:
        forget_in_digests(places.paths, project, phrases)
    if purge:
        places.history.write_index()  # It shows how sessions begin.
    places.index.forget([memory.id for memory in chosen], sorted(quotes) if purge else ())
    places.index.catch_up(places.store, places.history)
    sources = {SessionRef(e.project, e.session) for e in evidence}
    told_of = {memory.id for memory in chosen} | {f"{e.session}#{e.message_id}" for e in evidence}
    _forget_in_passing(places.paths, sources, told_of, phrases)
    if rewrite_pages:
        places.pages.write()
    return purged


def forget_sentences(places: Everything, sentences: Collection[Said]) -> int:
    """Purges sentences that no memory was made of; returns from how many messages."""
    _ = places.settings
    of_session: dict[SessionRef, set[str]] = {}
    for said in sentences:
        of_session.setdefault(said.ref, set()).add(said.text)
    every = {text for texts in of_session.values() for text in texts}
    purged = _purge(places.history, ((ref, text) for ref, texts in of_session.items() for text in sorted(texts)))
    for ref, texts in of_session.items():
        places.store.forget_sentences(ref, texts)
    for project in {ref.project for ref in of_session}:
        forget_in_digests(places.paths, project, every)
    places.history.write_index()
    places.index.forget((), sorted(every))
    places.index.catch_up(places.store, places.history)
    _forget_in_passing(places.paths, set(of_session), {said.place for said in sentences}, every)
    return purged


def with_words(memories: Iterable[Memory], words: str) -> list[Memory]:
    """Those of the memories in which every word stands; none for no word."""
    wanted = set(query_tokens(words))
    return [memory for memory in memories if wanted and wanted <= set(tokens(memory.now.text))]


def _purge(history: History, said: Iterable[tuple[SessionRef, str]]) -> int:
    return sum(history.purge(ref, text) for ref, text in said if history.exists(ref))


def _forget_in_passing(paths: Paths, sources: Set[SessionRef], ids: Set[str], phrases: Set[str]) -> None:
    """Takes words out of what is only kept for a while. `ids` are of memories, and of messages as `key#12`."""
    patterns = [pattern for phrase in phrases if (pattern := pattern_of(phrase))]

    def holds(text: str) -> bool:
        return any(pattern.search(text) for pattern in patterns)

    # A model's answers that wait for review, or for their commit.
    Record(paths).forget(sources, holds)
    Proposals(paths).forget(sources, holds)
    try:
        told.forget(paths, ids, holds)
        remove_leftovers(paths)
    except OSError as error:
        raise StorageFailed(
            f"cannot take the words out of {paths.run}: {error.strerror}; forget again",
            f"无法从 {paths.run} 中删去内容：{error.strerror}；请重试",
        ) from error
