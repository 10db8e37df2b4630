"""The conversations of a data directory: the typed place that steps append to, read and list."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from catmem.domain.clock import Clock, now, system_clock
from catmem.domain.errors import BadInput, CatmemError, LockBusy, NotFound
from catmem.domain.message import Message
from catmem.domain.session import SessionHeader, SessionRef
from catmem.sessions import digests, file, repair, upkeep
from catmem.sessions.branches import live_messages
from catmem.sessions.door import admitted, admitted_title
from catmem.sessions.listing import Listing
from catmem.sessions.names import Place, place, safe_key
from catmem.sessions.reading import SessionContent, message_of, read_file
from catmem.sessions.records import is_message, message_to_record
from catmem.sessions.talk import talk
from catmem.sessions.walking import walk
from catmem.settings.paths import Paths
from catmem.settings.places import state_of

if TYPE_CHECKING:
    from catmem.sessions.door import Redact


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append did: the new messages as they are stored, and how many were there already."""

    new: tuple[Message, ...]
    known: int


class History:
    """All sessions, each a file of its own.

    durability  `none`, `turn` or `message`: after which appends to wait for the disk
    redact      `redact(text, source)` takes the secrets out of a text; `source` is "said" or "tool"
    """

    def __init__(self, paths: Paths, *, durability: str, redact: Redact, clock: Clock = system_clock) -> None:
        self._paths = paths
        self._durability = durability
        self._redact = redact
        self._clock = clock
        self._listing = Listing(paths.root)
        self._failed: dict[SessionRef, set[str]] = {}

    @property
    def root(self) -> Path:
        """The data directory."""
        return self._paths.root

    # -- writing

    def append(
        self,
        ref: SessionRef,
        messages: Sequence[Message],
        *,
        cwd: str = "",
        client: str = "",
        title: str = "",
        marks: Iterable[Mapping[str, Any]] = (),
        whole_file_dedupe: bool = False,
        keep_ids: bool = False,
    ) -> Appended:
        """Appends messages, and marks ({"mark": NAME, …}) after them, in one step: all of it or nothing.

        Messages whose uid is there already are left out. Texts pass the door (door.py) first. Messages of an append
        that failed and was not repeated leave a gap in the ids, so that `check` reports them.
        Raises LockBusy, StorageFailed, DataDamaged, BadInput (a key that is too long).
        """
        records = [message_to_record(message) for message in messages]
        records += [{"timestamp": now(self._clock), **mark} for mark in marks]
        uids = {_identity(message) for message in messages}
        lost = self._failed.get(ref, set()) - uids
        try:
            outcome = file.append(
                self._place(ref),
                safe_key(ref.key),
                [admitted(record, self._redact) for record in records],
                listing=self._listed(ref, cwd, client, title),
                durability=self._durability,
                whole_file_dedupe=whole_file_dedupe,
                keep_ids=keep_ids,
                skip_ids=len(lost),
            )
        except CatmemError:
            self._failed.setdefault(ref, set()).update(uids)
            raise
        self._failed.pop(ref, None)
        new = tuple(message_of(record) for record in outcome["written"])
        return Appended(new, outcome["known"])

    def delete(self, ref: SessionRef) -> None:
        """Removes a session, what of it was set aside, and its digests. Raises NotFound."""
        upkeep.delete(self._place(ref), ref)
        digests.take_back(self._paths, ref.project, lambda d: "" if d["session"] == ref.key else str(d["content"]))

    def purge(self, ref: SessionRef, quote: str) -> int:
        """Takes a sentence out of a session's raw text, wherever it stands. Returns how many messages had it."""
        return upkeep.purge(self._place(ref), quote, now(self._clock))

    # -- reading

    def read(self, ref: SessionRef) -> SessionContent:
        """Everything of a session, dead branches too. Raises NotFound."""
        return read_file(self._existing(ref))

    def walk(self, ref: SessionRef) -> Iterator[Message | Mapping[str, Any]]:
        """Everything of a session piece by piece, messages and marks, in bounded memory (walking.py). Raises NotFound."""
        for record in walk(self._existing(ref)):
            yield message_of(record) if is_message(record) else record

    def messages(self, ref: SessionRef) -> list[Message]:
        """The messages of the branch that the user is on, in the order of the talk. Raises NotFound."""
        return live_messages(self.read(ref))

    def talk(self, ref: SessionRef) -> Iterator[Message]:
        """The same message by message and in bounded memory, in the order of the files (talk.py). Raises NotFound."""
        return talk(self._existing(ref))

    def state(self, ref: SessionRef) -> object:
        """What tells one state of a session's files from the next."""
        place = self._place(ref)
        return tuple(map(_state_of, (place.file, place.archive)))

    def marks(self, ref: SessionRef, name: str) -> list[Mapping[str, Any]]:
        """The marks of a name, oldest first; [] if there is no such session."""
        try:
            return [r for r in self.walk(ref) if not isinstance(r, Message) and r["mark"] == name]
        except NotFound:
            return []

    def last_mark(self, ref: SessionRef, name: str) -> Mapping[str, Any] | None:
        """The newest mark of a name; reads no more of the file than it must."""
        return file.last_mark(self._place(ref).file, name)

    def headers(self, project: str | None = None) -> Iterator[SessionHeader]:
        """The header of each session of a project, or of all; reads line 1 only."""
        return self._listing.headers(project)

    @property
    def bytes_read(self) -> int:
        """How many bytes `headers` has read so far."""
        return self._listing.bytes_read

    def projects(self) -> list[str]:
        """The keys of the projects that have sessions."""
        return self._listing.projects()

    def exists(self, ref: SessionRef) -> bool:
        return Path(self._place(ref).file).is_file()

    def find(self, key: str, project: str | None = None) -> SessionRef:
        """The session that a user means: its key, or as much of the end or the client's own id as is unambiguous.

        Raises NotFound, or BadInput if several sessions fit.
        """
        if project is not None and self.exists(SessionRef(project, key)):
            return SessionRef(project, safe_key(key))
        refs = [header.ref for header in self.headers(project)]
        fitting: list[SessionRef] = []
        for test in (_is_key, _is_own_id, _begins_own_id, _ends_key):
            fitting = [ref for ref in refs if test(ref.key, key)]
            if fitting:
                break
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            raise NotFound(
                f"no session {key!r}; `mem sessions` lists them", f"没有会话 {key!r}；用 `mem sessions` 查看"
            )
        some = ", ".join(f"{ref.key} ({ref.project})" for ref in fitting[:5])
        raise BadInput(
            f"{key!r} fits {len(fitting)} sessions: {some}; give the whole key, and --project if need be",
            f"{key!r} 对应 {len(fitting)} 个会话：{some}；请给出完整的键，必要时加 --project",
        )

    # -- upkeep

    def check(self, ref: SessionRef) -> list[repair.Finding]:
        """What is wrong with a session's file; [] if nothing is. Changes nothing but the quarantine."""
        from catmem.sessions import interruption  # with it come archive and zstd, which few processes need

        found = self._existing(ref)
        return [*repair.check(found), *interruption.check(found, now(self._clock))]

    def repair(self, ref: SessionRef) -> list[str]:
        """Puts right what can be: what was done, one word each (see repair.py)."""
        done = repair.repair(self._existing(ref), now(self._clock))
        return [*done, *([repair.CLOSED] if self.settle(ref)[0] else [])]

    def settle(self, ref: SessionRef) -> tuple[int, int]:
        """Gives calls that are over a result that says so, once: how many, and how many calls are still open.

        One that is being written just now is left for the next time: (0, 1). Raises NotFound, StorageFailed.
        """
        from catmem.sessions import interruption

        try:
            return interruption.settle(self._existing(ref), now(self._clock))
        except LockBusy:
            return 0, 1

    def strays(self) -> list[Path]:
        """Files among the sessions that are none, or stand in the wrong place."""
        return list(self._listing.strays())

    def lost(self) -> list[Path]:
        """Archives whose live file is gone."""
        return [Path(place.archive) for place in self._listing.lost()]

    def restore(self, archive: Path) -> None:
        """Makes the live file of such an archive anew: the session is listed, read and appended to again."""
        from catmem.sessions.overlap import restore

        for lost in self._listing.lost():
            if lost.archive == str(archive):
                restore(lost, now(self._clock))

    def write_index(self) -> None:
        """Writes index.json: projects and sessions, for people and other tools."""
        upkeep.write_index(self._paths, self.headers())

    # -- plumbing

    def place(self, ref: SessionRef) -> Place:
        """Where the files of a session are, for compaction."""
        return self._place(ref)

    def _place(self, ref: SessionRef) -> Place:
        return place(str(self._paths.root), safe_key(ref.project), safe_key(ref.key))

    def _existing(self, ref: SessionRef) -> Place:
        found = self._place(ref)
        if not Path(found.file).is_file():
            raise NotFound(
                f"no session {ref.key!r} in the project {ref.project!r}; `mem sessions` lists them",
                f"项目 {ref.project!r} 中没有会话 {ref.key!r}；用 `mem sessions` 查看",
            )
        return found

    def _listed(self, ref: SessionRef, cwd: str, client: str, title: str) -> file.Listing:
        named = admitted_title(title, self._redact) if title else ""
        return {"project": safe_key(ref.project), "cwd": cwd, "client": client, "title": named}


def _state_of(file: str) -> tuple[int, int, int] | None:
    try:
        return state_of(os.stat(file))
    except OSError:
        return None


def _identity(message: Message) -> str:
    return message.uid or f"{message.timestamp} {message.role} {message.content}"


def _is_key(key: str, wanted: str) -> bool:
    return key == wanted


def _is_own_id(key: str, wanted: str) -> bool:
    """`6f1c…` of `claude-code:6f1c…`."""
    return key.partition(":")[2] == wanted


def _begins_own_id(key: str, wanted: str) -> bool:
    return len(wanted) >= 4 and (key.partition(":")[2] or key).startswith(wanted)


def _ends_key(key: str, wanted: str) -> bool:
    return len(wanted) >= 4 and key.endswith(wanted)
