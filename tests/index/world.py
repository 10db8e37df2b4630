"""A small data directory for the tests of index, recall and brief: memories by sentence, sessions by lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from catmem.domain.change import Change
from catmem.domain.memory import Claim, Evidence, Kind, Scope, memory_id
from catmem.domain.message import Message, Role
from catmem.domain.session import SessionHeader, SessionRef
from catmem.index.writer import Indexed, SearchIndex
from catmem.ledger.ledger import Ledger
from catmem.settings.paths import Paths
from catmem.store.memories import MemoryStore

START = "2026-03-01T10:00:00.000Z"


class FakeHistory:
    """As much of sessions.History as the index asks for."""

    def __init__(self) -> None:
        self.sessions: dict[SessionRef, list[Message]] = {}
        self.reads: list[SessionRef] = []

    def say(self, project: str, key: str, *lines: tuple[Role, str], at: str = START) -> None:
        messages = self.sessions.setdefault(SessionRef(project, key), [])
        for role, content in lines:
            number = messages[-1].id + 1 if messages else 1
            messages.append(Message(role, content, at, f"{key}-{number}", number, key))

    def headers(self, project: str | None = None) -> Iterator[SessionHeader]:
        for ref, messages in self.sessions.items():
            last = messages[-1] if messages else None
            metadata = {"project": ref.project, "count": len(messages), "last_id": last.id if last else 0}
            yield SessionHeader(ref.key, "", "", START, last.timestamp if last else START, 0, metadata)

    def talk(self, ref: SessionRef) -> Iterator[Message]:
        self.reads.append(ref)
        return iter(list(self.sessions[ref]))


class World:
    def __init__(self, root: Path) -> None:
        self.paths = Paths(root)
        self.store = MemoryStore(self.paths, Ledger(self.paths))
        self.history = FakeHistory()
        self.index = SearchIndex(self.paths)

    def learn(
        self,
        text: str,
        *,
        project: str = "shop",
        kind: Kind = "convention",
        scope: Scope = "project",
        at: str = START,
        sessions: tuple[str, ...] = ("s1",),
        subject: str = "project",
        object: str = "",
        predicate: str = "",
        explicit: bool = False,
    ) -> str:
        """One claim, said once in each of `sessions`; single-valued if it has an `object` and a `predicate`."""
        claim = _claim(text, project, kind, scope, at, sessions, subject, object, predicate, explicit)
        self.store.commit([Change(0, "", "", "distilled", "distiller", claims=(claim,))])
        return claim.id

    def learn_notes(self, texts: Iterable[str], at: str) -> None:
        """Many at once, as an import brings them."""
        claims = [_claim(text, "shop", "note", "project", at, ("s1",)) for text in texts]
        self.store.commit([Change(0, "", "", "distilled", "distiller", claims=(claim,)) for claim in claims])

    def catch_up(self) -> Indexed:
        return self.index.catch_up(self.store, self.history)  # type: ignore[arg-type]

    def rebuild(self) -> Indexed:
        return self.index.rebuild(self.store, self.history)  # type: ignore[arg-type]


def _claim(
    text: str,
    project: str,
    kind: Kind,
    scope: Scope,
    at: str,
    sessions: Sequence[str],
    subject: str = "project",
    object: str = "",
    predicate: str = "",
    explicit: bool = False,
) -> Claim:
    id = memory_id(scope, project, subject, predicate or kind, "" if predicate else text)
    evidence = tuple(Evidence(at, project, session, 1, text) for session in sessions)
    return Claim(
        id, scope, project, kind, subject, predicate or kind, object or text, text, at, 0.9,
        evidence=evidence, explicit=explicit,
    )  # fmt: skip
