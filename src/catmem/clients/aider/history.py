"""Reads aider's `.aider.chat.history.md`: one file a folder, all its sessions one after the other.

Its times are local and only say when a session began.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.aider import wire
from catmem.clients.aider.wire import Speaker
from catmem.clients.draft import Draft
from catmem.clients.lines import read_lines
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, refuse_encodings, written_at
from catmem.domain.clock import parse_instant
from catmem.text.encoding import decode_line

CLIENT = "aider"
FILE = ".aider.chat.history.md"
_COMMAND_BEGINS = "/"


class AiderHistory(WholeFileHistory):
    """The History of aider."""

    def knows(self, path: Path, head: bytes) -> bool:
        return path.name == FILE or (path.suffix == ".md" and wire.STARTED_BYTES.search(head) is not None)

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        with path.open("rb") as file:
            refuse_encodings(path, file.read(512))
            reading = _Reading(path, marked=any(line.raw and wire.MARKED.match(line.raw) for line in read_lines(file)))
            begun = 0
            for line in read_lines(file):
                if line.raw is None:
                    reading.draft.fault(reasons.too_long(line.end - line.start), line.number)
                    continue
                ended = reading.take(decode_line(line.raw), line.number)
                if ended:
                    yield ended.chunk(line.start, line.number)
                elif line.end - begun >= limit and reading.talked:
                    yield reading.draft.chunk(line.end, line.number, at_end=False)
                    begun = line.end
            last = reading.finish()
            if last:
                yield last.chunk(path.stat().st_size)


READER = AiderHistory()


class _Reading:
    """The session that is being read, and the block of lines of one speaker in it."""

    def __init__(self, path: Path, *, marked: bool) -> None:
        self._path = path
        self._marked = marked
        self._starts: Counter[str] = Counter()
        self._block: list[str] = []
        self._doubt: list[tuple[str, int]] = []  # lines that are a quotation, or output of several lines
        self._speaker: Speaker = "blank"
        self._line = 0
        self._started_at = 0
        self._zone_told = False
        self.talked = False
        self.draft = Draft(str(path), "", written_at(path))
        self._place()

    def take(self, line: str, number: int) -> Draft | None:
        """Takes a line; returns the session that ended before it."""
        if started := wire.STARTED.match(line):
            ended = self.finish()
            self._start(started[1], number)
            return ended
        if (
            not self.draft.key and line.strip()
        ):  # before any heading: a file of an older version, or the end of a longer one
            self.draft.begin(f"{CLIENT}:undated-{hashlib.blake2b(line.encode(), digest_size=6).hexdigest()}")
        speaker = wire.speaker_of(line, marked=self._marked)
        if self._doubt:
            self._in_doubt(line, number, speaker)
        elif speaker == "assistant" and line.startswith("> "):
            self._doubt = [(line, number)]
        else:
            self._add(line, number, speaker)
        return None

    def _in_doubt(self, line: str, number: int, speaker: Speaker) -> None:
        """Output of several lines has the prefix at its first and the two blanks at its last; a quotation has neither."""
        if speaker in ("user", "program"):
            self._settle("assistant")
            self._add(line, number, speaker)
            return
        self._doubt.append((line, number))
        if speaker == "assistant" and line.endswith("  "):
            self._settle("program")

    def _settle(self, speaker: Speaker) -> None:
        doubtful, self._doubt = self._doubt, []
        for line, number in doubtful:
            self._add(line, number, speaker if line.strip() else "blank")

    def _add(self, line: str, number: int, speaker: Speaker) -> None:
        if speaker != self._speaker and not (speaker == "blank" and self._speaker in ("assistant", "program")):
            self._say()
            self._speaker, self._line = speaker, number
        self._block.append(wire.words_of(line, speaker))

    def finish(self) -> Draft | None:
        """The session as far as it goes; None if nobody said anything in it."""
        self._settle("assistant")
        self._say()
        ended, talked = self.draft, self.talked
        if talked and self._started_at and not self._zone_told:
            ended.flag(reasons.NO_ZONE, self._started_at)  # once a file
            self._zone_told = True
        self._speaker, self.talked = "blank", False
        return ended if talked or ended.problems else None

    def _start(self, written: str, number: int) -> None:
        began = parse_instant(written)
        self._starts[written] += 1
        again = self._starts[written]
        key = f"{CLIENT}:{written.replace(' ', 'T')}" + (f"-{again}" if again > 1 else "")
        self.draft = Draft(str(self._path), key, began[0] if began else written_at(self._path))
        self._place()
        self._started_at = number

    def _place(self) -> None:
        self.draft.read()
        if self._path.name == FILE:
            self.draft.cwd = str(self._path.absolute().parent)

    def _say(self) -> None:
        text, speaker, line = "\n".join(self._block).strip("\n"), self._speaker, self._line
        self._block = []
        if not text.strip() or speaker == "blank":
            return
        if speaker == "program":
            self.draft.say("system", text, dated=False, kind="notice", line=line)
            return
        self.talked = True
        if speaker == "assistant":
            self.draft.say("assistant", text, dated=False, line=line)
            return
        if not self._marked:
            self.draft.flag(reasons.LOOKS_ALIKE, line)
        if _is_bare_command(text):
            self.draft.say("system", text, dated=False, kind="command", line=line)
        else:
            self.draft.say("user", text, dated=False, line=line)


def _is_bare_command(text: str) -> bool:
    """`/undo` alone is an action, and no words."""
    return text.startswith(_COMMAND_BEGINS) and len(text.split()) == 1
