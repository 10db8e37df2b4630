"""A memory: one distilled statement, where it came from, and what makes two of them the same."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

from catmem.domain.hashing import short_hash

Kind = Literal["preference", "environment", "convention", "decision", "question", "progress", "note"]
Scope = Literal["project", "global"]
Status = Literal["live", "superseded", "forgotten"]
Author = Literal["user", "assistant", "distiller", "dream", "import", "sync"]

KINDS: tuple[Kind, ...] = (
    "preference",
    "environment",
    "convention",
    "decision",
    "question",
    "progress",
    "note",
)
SCOPES: tuple[Scope, ...] = ("project", "global")
STATUSES: tuple[Status, ...] = ("live", "superseded", "forgotten")
AUTHORS: tuple[Author, ...] = ("user", "assistant", "distiller", "dream", "import", "sync")
HARD_KINDS: tuple[Kind, ...] = ("preference", "environment", "convention")
# They stand until something else is said; work and open questions move on by themselves.
LASTING_KINDS: tuple[Kind, ...] = (*HARD_KINDS, "decision")


@dataclass(frozen=True, slots=True, order=True)
class Evidence:
    """The sentence that a memory came from: its session, its message, the words, and when they were said."""

    at: str
    project: str
    session: str
    message_id: int
    quote: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What distilling, a user or an import says is so. Many claims with one id make one memory.

    `single` tells that subject and predicate have one object at a time: a new one supersedes the old.
    `supersedes` names other memories that this claim puts out of force.
    """

    id: str
    scope: Scope
    project: str
    kind: Kind
    subject: str
    predicate: str
    object: str
    text: str
    valid_from: str
    confidence: float
    tags: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    supersedes: tuple[str, ...] = ()
    explicit: bool = False
    """The user asked for it to be remembered, so it need not be said twice to join the profile."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One state of a memory: from when to when, by whom, why. Never changed, only followed by the next."""

    version: int
    status: Status
    scope: Scope
    kind: Kind
    subject: str
    predicate: str
    object: str
    text: str
    tags: tuple[str, ...]
    confidence: float
    pinned: bool
    at: str
    by: Author
    why: str
    valid_from: str
    valid_to: str = ""
    evidence: tuple[Evidence, ...] = ()

    @property
    def confirmations(self) -> int:
        """In how many distinct sessions it was said."""
        return len({(e.project, e.session) for e in self.evidence})


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as it stands, with its history: `revisions[-1]` is the present one."""

    id: str
    project: str
    created_at: str
    updated_at: str
    revisions: tuple[Revision, ...]
    superseded_by: str = ""
    explicit: bool = False

    @property
    def now(self) -> Revision:
        return self.revisions[-1]

    @property
    def version(self) -> int:
        return self.now.version


def normal(text: str) -> str:
    """The form in which two spellings of one statement are equal: width, case, space and end marks folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(" .!。！,，;；:：\"'`“”‘’「」")


def statement_hash(text: str) -> str:
    """What a tombstone keeps of a forgotten statement: enough to know it again, not enough to read it."""
    return short_hash(normal(text), 16)


def memory_id(scope: Scope, project: str, subject: str, predicate: str, object: str = "") -> str:
    """The id of a memory, derived from its identity: two devices that learn one thing have one memory.

    `object` is left out for predicates with one value at a time. The id stays when the memory is promoted.
    """
    home = project if scope == "project" else ""
    identity = "\x1f".join((scope, home, *map(normal, (subject, predicate, object))))
    return "m" + short_hash(identity, 6)
