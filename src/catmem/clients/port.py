"""What a client is to the rest: a reader of its transcripts, a reader of its hooks' payloads, an installer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from catmem.domain.message import Message

# Raw bytes of a transcript that are taken in at a time: one turn of a busy session, small beside what a process has.
CHUNK_BYTES = 8 << 20

Mark = dict[str, Any]
"""A mark of a session file as a record: {"mark": NAME, ...}."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of a file that could not be taken as it stands; `line` is 0 where the whole file is meant.

    The reason is in English and in Chinese (see reasons.py).
    """

    file: str
    line: int
    reason: str
    reason_zh: str = ""

    def said(self, language: str) -> str:
        """The reason in `zh` or `en`."""
        return self.reason_zh if language == "zh" and self.reason_zh else self.reason


@dataclass(frozen=True, slots=True)
class Position:
    """How far a transcript was read; what a later read needs to go on there.

    `waiting` are offsets of lines with words typed ahead whose fate was open; `reply` names the reply that was read
    last, so that its usage is not counted again if more of it follows; `titled` ranks the title taken so far.
    """

    offset: int = 0
    line: int = 0
    waiting: tuple[int, ...] = ()
    reply: str = ""
    titled: int = 0


START = Position()


@dataclass(frozen=True, slots=True)
class TranscriptChunk:
    """A part of one session, in the order of the talk.

    session   the key under which it is kept
    cwd       the folder that it was held in; `project` where the source itself names one
    prompts   the uid of a typed message -> the id by which the hook knew it
    records   how many lines could be read
    helper    catmem itself started the session
    forked    the program marks it as continuing another
    original  the key of the session that another program kept and this is a copy of
    first     the chunk begins the file; `at_end`: it ends it
    """

    session: str
    messages: tuple[Message, ...] = ()
    marks: tuple[Mark, ...] = ()
    position: Position = START
    problems: tuple[Problem, ...] = ()
    cwd: str = ""
    project: str = ""
    title: str = ""
    prompts: Mapping[str, str] = field(default_factory=dict)
    records: int = 0
    helper: bool = False
    forked: bool = False
    original: str = ""
    first: bool = True
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One call of a hook, in our words.

    session   the key under which it is kept
    prompt    what the person typed of it
    source    why a session starts: startup, resume, clear, compact, fork; `reason`: why it ends
    reply     the assistant's last words, as the host tells them
    agent_id  the subagent that it happened in
    helper    catmem itself started the session
    raw       the payload as sent
    """

    client: str
    name: str
    session: str
    cwd: str = ""
    transcript: str = ""
    prompt: str = ""
    prompt_id: str = ""
    source: str = ""
    reason: str = ""
    reply: str = ""
    agent_id: str = ""
    helper: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)


class History(Protocol):
    """Reads what a client wrote about its sessions."""

    def recognises(self, head: Sequence[object]) -> bool:
        """True if the first records of a file are of this client."""

    def chunks(
        self, path: Path, position: Position = START, *, limit: int = CHUNK_BYTES, final: bool = True
    ) -> Iterator[TranscriptChunk]:
        """The sessions of a file from `position` on, in parts of about `limit` bytes.

        `final` says that nobody is about to write on: words typed ahead that were never sent then count as said.
        Raises StorageFailed if the file cannot be read, BadInput if it is not of this kind at all.
        """


@runtime_checkable
class KnowsFiles(Protocol):
    """A History of files that are not told from single JSON lines: databases, archives, whole documents, texts."""

    def knows(self, path: Path, head: bytes) -> bool:
        """True if a file is of this client, by its name and its first bytes. Asked before any `recognises`."""


@runtime_checkable
class TellsTurns(Protocol):
    """A History of sessions that are in no file of their own: a hook tells the messages of each turn itself."""

    def turn(self, payload: Mapping[str, Any]) -> TranscriptChunk:
        """The messages in a hook's payload, named as the history names them. What is not understood is left out."""


class Hooks(Protocol):
    """Reads what a client says to a hook, as a plain dict with the names of HookEvent (hot path)."""

    def parse(self, event_name: str, payload: Mapping[str, Any]) -> dict[str, Any]: ...


class Installer(Protocol):
    """Writes catmem into a client's configuration, and takes it out again."""

    def install(self) -> Sequence[str]:
        """Returns the files that were changed; none if nothing was to do."""

    def uninstall(self) -> Sequence[str]:
        """Returns the files that were changed; none if nothing was to do."""
