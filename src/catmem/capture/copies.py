"""Sessions that begin with another's messages: a resumed, forked or branched talk is copied into a file of its own.

A message belongs to one session. Which one does not depend on who was met first: it is the one that went on sooner
after the common part, or that did not go on at all. Programs that count their ids (`msg-001`) repeat them by chance, so
a copy has the words too, from the first message on; nor does a session give away what it holds other words of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from catmem.capture.known import Known, is_same_text, prompt_uid
from catmem.clients.port import Mark, TranscriptChunk
from catmem.clients.readers import reader_of
from catmem.domain.clock import seconds_of
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.sessions.history import History

# A copy begins with messages of long before; in a new talk the first message is as old as the session.
_FRESH = 60.0
# Characters up to which the words of a copy are compared: ids that repeat by chance show in the short ones.
_COMPARED = 4096


@dataclass(slots=True)
class Shared:
    """What a session has in common with others.

    `left_out` are uids that other sessions own; `marks` say so in this one; `owned` are those of which others hold a
    copy, and `given` how each of them names those in its file.
    """

    left_out: set[str] = field(default_factory=set)
    marks: list[Mark] = field(default_factory=list)
    given: dict[SessionRef, list[str]] = field(default_factory=dict)
    owned: set[str] = field(default_factory=set)
    owner: SessionRef | None = None


@dataclass(frozen=True, slots=True)
class _Line:
    """A message of a file, as far as ownership goes."""

    uid: str
    timestamp: str
    role: str
    text: str

    @property
    def said(self) -> bool:
        return self.role in ("user", "assistant")


class Copies:
    """Finds the sessions that share a beginning. One for a run of imports, or for one hook."""

    def __init__(self, history: History, *, thorough: bool = False) -> None:
        """`thorough` looks for copies of every session, not only of those whose beginning is old."""
        self._history = history
        self._thorough = thorough
        self._roots: dict[str, list[SessionRef]] | None = None
        self._present: Shared = Shared()

    def settle(self, known: Known, chunk: TranscriptChunk, path: Path | None, client: str) -> Shared:
        """What a session that is being read shares. Decided at its first part, for the whole file."""
        if not chunk.first:
            return self._present
        self._present = Shared()
        if path is not None and chunk.messages and self._may_be_copy(known, chunk.messages[0]):
            kin = self._kin(known, chunk)
            if kin:
                self._decide(known, self._lines(path, chunk, client), chunk.forked, kin)
        return self._present

    def hand_over(self, shared: Shared) -> None:
        """Tells the sessions that hold copies whose messages they are. After the owner has stored them."""
        for ref, uids in shared.given.items():
            marks: list[Mark] = [{"mark": "inherited", "uids": uids}]
            if shared.owner:
                marks.append(_continues(shared.owner, len(uids)))
            self._history.append(ref, (), marks=marks, whole_file_dedupe=True)
        shared.given = {}

    def _may_be_copy(self, known: Known, first: Message) -> bool:
        if self._thorough:
            return True
        try:
            return not known.began or seconds_of(known.began) - seconds_of(first.timestamp) > _FRESH
        except ValueError:
            return True

    def _kin(self, known: Known, chunk: TranscriptChunk) -> list[SessionRef]:
        """Other sessions whose first message is this one's."""
        if self._roots is None:
            self._roots = {}
            for header in self._history.headers():
                self._roots.setdefault(str(header.metadata.get("root", "")), []).append(header.ref)
        first = chunk.messages[0].uid
        names = [first, prompt_uid(chunk.prompts[first])] if first in chunk.prompts else [first]
        found = [ref for name in names for ref in self._roots.get(name, []) if ref != known.ref]
        refs = self._roots.setdefault(first, [])
        if known.ref not in refs:
            refs.append(known.ref)
        return found

    def _lines(self, path: Path, chunk: TranscriptChunk, client: str) -> list[_Line]:
        """All messages of the file, since who went on first shows only at the end of the common part."""
        if chunk.at_end:
            return [_line(message) for message in chunk.messages]
        return [_line(m) for part in reader_of(client).chunks(path) for m in part.messages]

    def _decide(self, known: Known, lines: Sequence[_Line], forked: bool, kin: Sequence[SessionRef]) -> None:
        shared = self._present
        held = {m.uid: _line(m) for m in known.messages}
        begun, lines = lines[0], [line for line in lines if line.uid not in held or _is_copy(held[line.uid], line)]
        if begun not in lines[:1]:
            return
        ours = {line.uid for line in lines}
        shared.owner = known.ref
        for ref in kin:
            other = Known(self._history, ref)
            if not any(_is_copy(_line(m), lines[0]) for m in other.messages if m.uid == lines[0].uid):
                continue
            theirs = [_line(m) for m in other.messages if m.uid not in other.inherited]
            named = {line.uid: line for line in theirs}
            mine = [line for line in lines if line.uid not in shared.left_out]
            common = [line.uid for line in mine if line.uid in named and _is_copy(named[line.uid], line)]
            if not common:
                continue
            went_on = _first_of(line for line in mine if line.uid not in common)
            they_went_on = _first_of(line for line in theirs if line.uid not in ours)
            if not forked and _is_original(went_on, they_went_on):
                shared.owned.update(common)
                shared.given[ref] = [other.file_name(uid) for uid in common]
                continue
            shared.left_out.update(common)
            fresh = [uid for uid in common if uid not in known.uids]
            stored = [uid for uid in common if uid in known.uids and uid not in known.inherited]
            if stored:
                shared.marks.append({"mark": "inherited", "uids": [known.file_name(uid) for uid in stored]})
            if (fresh and not known.continues(ref.key)) or stored:
                shared.marks.append(_continues(ref, len(common)))


def _continues(ref: SessionRef, uids: int) -> Mark:
    return {"mark": "continues", "key": ref.key, "project": ref.project, "uids": uids}


def _line(message: Message) -> _Line:
    text = message.content if len(message.content) <= _COMPARED else ""
    return _Line(message.uid, message.timestamp, message.role, text)


def _is_copy(stored: _Line, line: _Line) -> bool:
    """A copy keeps times and words; what a hook captured is a little older than its line."""
    try:
        near = abs(seconds_of(stored.timestamp) - seconds_of(line.timestamp)) <= _FRESH
    except ValueError:
        return False
    if not near or stored.role != line.role:
        return False
    return not (stored.text and line.text) or is_same_text(stored.text, line.text)


def _first_of(lines: Iterable[_Line]) -> str:
    return min((line.timestamp for line in lines if line.said), default="")


def _is_original(went_on: str, they_went_on: str) -> bool:
    """True if the session that is read now is the one that was copied: it went on sooner, or not at all."""
    if not they_went_on:
        return False
    return not went_on or went_on < they_went_on
