"""Brings the histories of other tools in: files and folders, each message once, however often it is imported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catmem.capture.copies import Copies
from catmem.capture.formats import EXPORT, files_of, format_of, is_claimed, is_expected, is_readable, unknown
from catmem.capture.known import Known
from catmem.capture.transcript import Taken, is_followed, take_in
from catmem.clients import reasons
from catmem.clients.catalogue import CLIENTS
from catmem.clients.port import Problem, TranscriptChunk
from catmem.clients.readers import reader_of
from catmem.clients.reasons import Reason
from catmem.domain.errors import CatmemError, ImportFailed, StorageFailed
from catmem.domain.message import is_said
from catmem.domain.session import SessionRef
from catmem.sessions.history import History
from catmem.sessions.pure import is_pure
from catmem.sessions.uids import Uids

UNFILED = "unfiled"
"""The project of what names neither a project nor a folder."""

# Of one file, so that a file of garbage does not fill the screen or the memory.
_MOST_PROBLEMS = 50
# Sessions of one file whose messages are held at a time: an export may have thousands.
_MOST_KNOWN = 64
# Of a text, in characters, so that a dry run of a large tree keeps little of it.
_TOLD_APART = 200


@dataclass(slots=True)
class ImportReport:
    """What an import found. `failed` are files of which nothing at all could be read, `pure` sessions left out.

    `tokens` is about how many a model would read of what is new; counted in a dry run only.
    """

    sessions: int = 0
    messages_new: int = 0
    messages_known: int = 0
    tokens: int = 0
    pure: int = 0
    problems: list[Problem] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    touched: list[SessionRef] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        """The JSON of `mem import`."""
        return {
            "sessions": self.sessions,
            "messages_new": self.messages_new,
            "messages_known": self.messages_known,
            "problems": [{"file": p.file, "line": p.line, "reason": p.reason} for p in self.problems],
            **({"pure": self.pure} if self.pure else {}),
        }

    def raise_if_nothing(self) -> None:
        """Raises ImportFailed if there were files, and not one of their records could be taken."""
        if self.failed and not self.messages_new and not self.messages_known:
            first = self.problems[0]
            where = f"{first.file}:{first.line}" if first.line else first.file
            raise ImportFailed(
                f"nothing could be imported; the first reason: {where}: {first.reason}",
                f"没有任何内容可导入；首个原因：{where}：{first.said('zh')}",
            )


class Importer:
    """Takes files into a History.

    project_of    the project's key of a working directory
    project       puts everything into this one instead
    take_export   takes an export of our own, and returns its sessions and how many messages were new and known: it
                  touches more than the sessions
    """

    def __init__(
        self,
        history: History,
        *,
        project_of: Callable[[str], str],
        project: str = "",
        dry_run: bool = False,
        take_export: Callable[[Path], tuple[Sequence[SessionRef], int, int]] | None = None,
        progress: Callable[[Path, int, int], None] = lambda path, done, total: None,
    ) -> None:
        self._history = history
        self._project_of = project_of
        self._project = project
        self._dry_run = dry_run
        self._take_export = take_export
        self._progress = progress
        self._copies = Copies(history, thorough=True)
        self._homes: dict[str, str] | None = None
        self._seen = Uids()
        self._sessions: set[SessionRef] = set()
        self._pure: set[str] = set()
        self.report = ImportReport()

    def run(self, paths: Sequence[Path], source: str = "auto") -> ImportReport:
        """Imports files and folders; a folder is walked. One bad file, or one bad line, costs only itself."""
        own = self._history.root.resolve()
        files = [(path, walked) for path, walked in files_of(paths, source) if not (walked and _is_within(path, own))]
        for path, walked in files:
            try:
                self._file(path, source, walked)
            except CatmemError as error:
                self._fail(path, (error.en, error.zh))
                if isinstance(error, StorageFailed) and path.exists() and is_readable(path):
                    raise  # our own disk refuses: it would refuse the next file, too
            except OSError as error:  # gone meanwhile, or not ours to read
                self._fail(path, (error.strerror or str(error), ""))
        self.report.sessions = len(self._sessions)
        self.report.pure = len(self._pure)
        self.report.touched = sorted(self._sessions)
        return self.report

    def _file(self, path: Path, source: str, walked: bool) -> None:
        client = source if source != "auto" else format_of(path)
        if walked and source in CLIENTS and not is_claimed(source, path):
            return
        if not client:
            # Among the files of a tool there are many that are none of its sessions.
            if not walked or is_expected(path):
                self._fail(path, unknown(path))
            return
        if client == EXPORT:
            self._export(path)
            return
        size, records, problems, talk = path.stat().st_size, 0, 0, False
        known: dict[SessionRef, Known] = {}  # of this file's sessions
        helpers: set[str] = set()  # sessions of it that catmem itself held
        for chunk in reader_of(client).chunks(path):
            if is_pure(str(self._history.root), chunk.session):
                self._pure.add(chunk.session)
                talk, records = True, records + chunk.records
                continue
            if chunk.helper:
                helpers.add(chunk.session)
            if chunk.session in helpers:
                talk, records = True, records + chunk.records
                continue
            records += chunk.records
            problems += len(chunk.problems)
            self._note(path, chunk.problems)
            if any(message.kind != "agent" for message in chunk.messages):
                talk = True
                self._chunk(path, client, chunk, known)
            self._progress(path, chunk.position.offset, size)
        if problems and not records:
            self._fail(path, reasons.NO_LINE_READ)
        elif not talk and not walked:
            self._note(path, [Problem(str(path), 0, *reasons.NO_TALK)])

    def _chunk(self, path: Path, client: str, chunk: TranscriptChunk, known: dict[SessionRef, Known]) -> None:
        ref = self._ref(client, chunk)
        original = self._original(chunk, ref)
        if original:
            self.report.messages_known += len(chunk.messages)
            self._sessions.add(original)
            return
        if ref not in known:
            while len(known) >= _MOST_KNOWN:
                del known[next(iter(known))]
            known[ref] = Known(self._history, ref)
        followed = path if is_followed(client, path.name) else None
        if self._dry_run:
            taken = self._counted(known[ref], chunk, followed, client)
            self.report.tokens += sum(_tokens(message.content) for message in taken.new if is_said(message))
        else:
            taken = take_in(self._history, known[ref], chunk, self._copies, path=followed, client=client)
        self.report.messages_new += len(taken.new) - taken.moved
        self.report.messages_known += taken.known + taken.moved
        self._sessions.add(ref)

    def _original(self, chunk: TranscriptChunk, ref: SessionRef) -> SessionRef | None:
        """The session that a chunk is a copy of, if that is kept and has all that the person says here."""
        home = self._kept_in().get(chunk.original) if chunk.original else None
        if home is None or self._history.exists(ref):
            return None
        original = SessionRef(home, chunk.original)
        own = {" ".join(m.content.split()) for m in chunk.messages if m.role == "user"}
        said = (" ".join(m.content.split()) for m in Known(self._history, original).messages if m.role == "user")
        return original if own and not own.difference(said) else None

    def _counted(self, known: Known, chunk: TranscriptChunk, path: Path | None, client: str) -> Taken:
        """What an import would find. A copy of what this run has only counted shows by its id, time and words."""
        copies = self._copies.settle(known, chunk, path, client).left_out
        new = []
        for message in chunk.messages:
            if message.uid in known.uids or message.uid in copies:
                continue
            told = "\n".join((message.uid, message.timestamp, message.role, message.content[:_TOLD_APART]))
            if told not in self._seen and not known.twins(message, chunk.prompts.get(message.uid, "")):
                new.append(message)
            self._seen.add(told)
        return Taken(tuple(new), len(chunk.messages) - len(new))

    def _ref(self, client: str, chunk: TranscriptChunk) -> SessionRef:
        if self._project:
            return SessionRef(self._project, chunk.session)
        if chunk.project:
            return SessionRef(chunk.project, chunk.session)
        homes = self._kept_in()
        if chunk.session not in homes:
            homes[chunk.session] = self._project_of(chunk.cwd) if chunk.cwd else UNFILED
        return SessionRef(homes[chunk.session], chunk.session)

    def _kept_in(self) -> dict[str, str]:
        """The project of each session that is there."""
        if self._homes is None:
            self._homes = {header.key: header.ref.project for header in self._history.headers()}
        return self._homes

    def _export(self, path: Path) -> None:
        if self._take_export is None or self._dry_run:
            return
        refs, new, known = self._take_export(path)
        self._sessions.update(refs)
        self.report.messages_new += new
        self.report.messages_known += known

    def _note(self, path: Path, problems: Sequence[Problem]) -> None:
        here = sum(1 for problem in self.report.problems if problem.file == str(path))
        self.report.problems += problems[: max(0, _MOST_PROBLEMS - here)]
        if here < _MOST_PROBLEMS < here + len(problems):
            self.report.problems.append(Problem(str(path), 0, *reasons.MORE))

    def _fail(self, path: Path, reason: Reason) -> None:
        self.report.failed.append(str(path))
        self.report.problems.append(Problem(str(path), 0, *reason))


def _tokens(text: str) -> int:
    """Roughly what a model counts: four letters a token, and 1.4 tokens a character elsewhere (see text/cut.py).

    The exact estimate reads 2 MB a second, a history of years has hundreds.
    """
    wide = (len(text.encode("utf-8", "replace")) - len(text)) // 2
    return round((len(text) - wide) / 4 + wide * 1.4)


def _is_within(path: Path, folder: Path) -> bool:
    """True for our own sessions, when a folder that holds the data directory is walked."""
    return path.resolve().is_relative_to(folder)
