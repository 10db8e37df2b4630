"""Reads SpecStory: `.specstory/history/<time>-<words>.md`, one session a file, some of them under several names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.claude_code.typed import is_bare_command, separate
from catmem.clients.draft import Draft, tool_call
from catmem.clients.port import TranscriptChunk
from catmem.clients.specstory import wire
from catmem.clients.whole_file import WholeFileHistory, refuse_encodings, written_at
from catmem.domain.clock import parse_instant
from catmem.domain.message import Role

CLIENT = "specstory"
_FOLDER = ".specstory"
# The programs whose sessions it copies, as it calls them, and as we do.
_PROGRAMS = {
    "Claude Code": "claude-code",
    "Codex CLI": "codex",
    "Gemini CLI": "gemini",
    "Cursor IDE": "cursor",
    "Cursor CLI": "cursor",
    "OpenCode": "opencode",
}
# A document is read whole; the longest of real ones are some hundred KB.
_LIMIT = 64 << 20


class SpecStoryHistory(WholeFileHistory):
    """The History of SpecStory. Messages are named by what they say under the session's id, whatever the file's name."""

    def knows(self, path: Path, head: bytes) -> bool:
        return path.suffix == ".md" and wire.SESSION_BYTES.search(head[:4096]) is not None

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        with path.open("rb") as file:
            raw = file.read(_LIMIT)
        refuse_encodings(path, raw[:512])
        text = raw.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
        session = wire.SESSION.search(text)
        began = parse_instant(wire.instant_in(session["at"])) if session else None
        key = session["id"] if session else path.stem
        draft = Draft(str(path), f"{CLIENT}:{key}", began[0] if began else written_at(path))
        draft.cwd = _workspace(path)
        program = _PROGRAMS.get(session["program"], "") if session else ""
        draft.original = f"{program}:{key}" if program else ""
        _take(draft, text, typed_in_terminal=program == "claude-code")
        if path.stat().st_size > _LIMIT:
            draft.fault(reasons.too_long(path.stat().st_size))
        yield draft.chunk(len(raw))


READER = SpecStoryHistory()


def _workspace(path: Path) -> str:
    """The folder that `.specstory` stands in."""
    for folder in path.absolute().parents:
        if folder.name == _FOLDER:
            return str(folder.parent)
    return ""


def _take(draft: Draft, text: str, *, typed_in_terminal: bool) -> None:
    calls = 0
    for turn in wire.turns_of(text):
        draft.read()
        if turn.who == "user":
            _said(draft, turn, typed_in_terminal=typed_in_terminal)
            continue
        for part in wire.parts_of(turn.text):
            spoken: Role = "system" if turn.side else "assistant"
            kind = "agent" if turn.side else ""
            if not part.tool:
                draft.say(spoken, part.text, turn.at, line=turn.line, kind=kind, dated=False)
                continue
            calls += 1
            call = tool_call(f"call-{calls}", part.tool, {})
            draft.say(spoken, "", turn.at, line=turn.line, kind=kind, calls=[call], dated=False)
            draft.say("tool", part.text, turn.at, line=turn.line, call_id=call.id, kind=kind, dated=False)


def _said(draft: Draft, turn: wire.Turn, *, typed_in_terminal: bool) -> None:
    """What stands under the user is not all typed: of Claude Code it has the program's tags, too."""
    if turn.side:
        draft.say("system", turn.text, turn.at, line=turn.line, kind="agent", dated=False)
        return
    said, kind, rest = separate(turn.text) if typed_in_terminal else (turn.text, "", "")
    if is_bare_command(said):
        said, kind, rest = "", "command", said
    draft.say("user", said, turn.at, line=turn.line, dated=False)
    draft.say("system", rest, turn.at, line=turn.line, kind=kind, dated=False)
