"""What a client is to the rest: a reader of its transcripts, a reader of its hooks' payloads, an installer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from catmem.domain.message import Message

# Raw bytes of a transcript that are taken in at a time: one turn of a busy session, small beside what a process has.
CHUNK_BYTES = 8 << 20

Mark = dict[str, Any]
"""A mark of a session file as a record: {"mark": NAME, ...}."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something of a file that could not be taken as it stands; `line` is 0 where the whole file is meant."""

    file: str
    line: int
    reason: str


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

    `session` is the client's own id. `prompts` maps the uid of a typed message to the id that the hook also saw.
    `records` counts the lines that could be read. `helper` is True for a session that catmem itself started.
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
    at_end: bool = False


@dataclass(frozen=True, slots=True)
class HookEvent:
    """One call of a hook, in our words; `raw` is the payload as sent.

    `source` says why a session starts (startup, resume, clear, compact, fork), `reason` why it ends.
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


class Hooks(Protocol):
    """Reads what a client says to a hook, as a plain dict with the names of HookEvent (hot path)."""

    def parse(self, event_name: str, payload: Mapping[str, Any]) -> dict[str, Any]: ...


class Installer(Protocol):
    """Writes catmem into a client's configuration, and takes it out again."""

    def install(self) -> str:
        """Returns the file that was changed, or "" if nothing was to do."""

    def uninstall(self) -> str:
        """Returns the file that was changed, or "" if nothing was to do."""
