"""Reads the chats of Gemini CLI: `~/.gemini/tmp/<project>/chats/session-*.json` and `.jsonl`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from catmem.clients import reasons
from catmem.clients.draft import Draft, record_of, text_of, tool_call, usage_of
from catmem.clients.gemini_cli import wire
from catmem.clients.gemini_cli.log import Log, Lookup, messages_in
from catmem.clients.gemini_cli.typed import separate, without_hooks
from catmem.clients.gemini_cli.wire import Record
from catmem.clients.gemini_cli.workspace import workspace_of
from catmem.clients.json_items import items_of
from catmem.clients.own_tools import RECALLED, is_own_tool
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, first_records, refuse_encodings, written_at
from catmem.domain.message import Role

CLIENT = "gemini"
_HEAD_BYTES = 1 << 16
# What the first message of a log answers, so that one that takes its place is another branch beside it.
_START = "start"


class Told(NamedTuple):
    """A message of a chat: its name in there, that of the one it followed, and its versions, the newest first."""

    name: str
    before: str
    versions: Iterable[Record]


class GeminiHistory(WholeFileHistory):
    """The History of Gemini CLI: one session a file. Later lines change earlier ones, so it is always read whole."""

    def knows(self, path: Path, head: bytes) -> bool:
        return wire.is_chat(first_records(head)) or _is_document(head)

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        with path.open("rb") as file:
            end = os.fstat(file.fileno()).st_size  # what is written from now on comes with the next reading
            head = file.read(_HEAD_BYTES)
            refuse_encodings(path, head)
            file.seek(0)
            draft = Draft(str(path), "", written_at(path))
            if _is_document(head):
                item = next(items_of(file), None)
                if item is None or item.reason:
                    draft.fault(reasons.not_json(item.reason if item else "empty"), item.line if item else 0)
                document = record_of(item.value if item else None)
                draft.read(1 if document else 0)
                told = messages_in(document)
                context = "\n".join(t for one in told[:1] for t in wire.texts_of(one["content"]))
                chat = _Chat(draft, path, document, context, end)
                yield from chat.chunks(
                    (Told(str(n), str(n - 1) if n else "", [one]) for n, one in enumerate(told)), limit
                )
            else:
                log = Log(draft)
                log.read(file)
                lookup = Lookup(file)
                chat = _Chat(draft, path, log.head, log.context, end)
                kept = (Told(name, log.before[name], lookup.versions(places)) for name, places in log.places.items())
                yield from chat.chunks(kept, limit, log.last if log.rewound else None)


READER = GeminiHistory()


def session_key(session_id: str) -> str:
    """The key under which a session of Gemini CLI is kept."""
    return f"{CLIENT}:{session_id}"


def _is_document(head: bytes) -> bool:
    """True for the older form: one object, indented or not, with the messages in it."""
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    first = next(iter(first_records(head, most=1)), None)
    if isinstance(first, dict):
        return wire.is_head(first) and isinstance(first.get("messages"), list)
    named = b'"projectHash"' in head or b'"startTime"' in head
    return text.startswith(b"{") and b'"sessionId"' in head and b'"messages"' in head and named


class _Chat:
    """From the messages of a chat, each in its versions, to a session."""

    def __init__(self, draft: Draft, path: Path, head: Record, context: str, end: int) -> None:
        self._draft = draft
        self._end = end
        draft.key = session_key(text_of(head.get("sessionId")) or path.name.split(".json")[0])
        draft.cwd = workspace_of(path, text_of(head.get("projectHash")), context)
        draft.title = text_of(head.get("summary"))
        self._began: object = head.get("startTime")
        # A subagent's chat lies in a folder of its own, named like the session it works for.
        self._agent = head.get("kind") == "subagent" or path.parent.parent.name == "chats"
        self._last = ""
        self._ends = {"": _START if path.suffix == ".jsonl" else ""}  # the last uid of each message
        self._open: dict[str, str] = {}  # calls without a result: the tool's name

    def chunks(self, told: Iterable[Told], limit: int, leaf: str | None = None) -> Iterator[TranscriptChunk]:
        """`leaf` names the message that the talk has come to, where some were taken back."""
        held = 0
        for one in told:
            self._last = self._ends.get(one.before, self._ends[""])
            held += self._message(list(_needed(one.versions)))
            self._ends[one.name] = self._last
            if held >= limit:
                yield self._draft.chunk(at_end=False)
                held = 0
        if leaf is not None:
            self._draft.leaf = self._ends[leaf]
        yield self._draft.chunk(self._end)

    def _message(self, versions: Sequence[Record]) -> int:
        """Adds a message; returns about how long it is."""
        newest = versions[0]
        speaker = wire.SPEAKERS[newest["type"]]
        uid, at = text_of(newest.get("id")), newest.get("timestamp")
        if speaker == "user":
            said, summary = next((pair for pair in map(_typed, versions) if pair[0]), _typed(newest))
            self._say("user", said, at, uid=uid)
            self._say("system", summary, at, uid=uid and f"{uid}:summary", kind="summary")
            for call_id, output in wire.responses_in(newest["content"]):
                self._result(call_id, output, at)
            return len(said)
        text = "\n".join(wire.texts_of(newest["content"]))
        if speaker == "system":
            self._say("system", text, at, uid=uid, kind="notice")
            return len(text)
        usage = next((u for u in (usage_of(one.get("tokens"), wire.USAGE) for one in versions) if u), None)
        self._say("assistant", text, at, uid=uid, usage=usage)
        calls = next((found for found in map(wire.calls_of, versions) if found), [])
        for call in calls:
            self._call(call, at, usage if not text.strip() and call is calls[0] else None)
        return len(text) + sum(len(str(call.get("result") or "")) for call in calls)

    def _call(self, call: Record, at: object, usage: dict[str, int] | None) -> None:
        """A call and what it returned. Each is a message of its own, since they come one by one into the file."""
        call_id, name = text_of(call.get("id")), text_of(call.get("name"))
        made = [tool_call(call_id, name, call.get("args"))]
        when = call.get("timestamp") or at
        self._say("assistant", "", at, uid=call_id and f"{call_id}:call", calls=made, usage=usage)
        self._open[call_id] = name
        result = wire.result_of(call)
        if result is not None:
            self._result(call_id, result, when)

    def _result(self, call_id: str, output: str, at: object) -> None:
        """The same result may be told with its call and by a message of its own, even twice."""
        if call_id not in self._open:
            return
        own = is_own_tool(self._open.pop(call_id))
        text = RECALLED if own else without_hooks(output)
        uid = call_id and f"{call_id}:result"
        self._say("tool", text if text.strip() else "[no output]", at, uid=uid, call_id=call_id)

    def _say(self, role: Role, text: str, at: object, *, kind: str = "", **more: Any) -> None:
        """A subagent's talk is nobody's words."""
        if self._agent:
            role, kind = ("tool" if role == "tool" else "system"), "agent"
        at, self._began = at or self._began, None
        self._last = self._draft.say(role, text, at, parent=self._last, kind=kind, **more) or self._last


def _needed(versions: Iterable[Record]) -> Iterator[Record]:
    """The newest version, and older ones as long as something may have been lost on the way."""
    for version in versions:
        yield version
        kept = _typed(version)[0] if version["type"] == "user" else wire.calls_of(version)
        if kept or (version["type"] != "user" and not _calls_a_tool(version)):
            return


def _calls_a_tool(message: Record) -> bool:
    return any("functionCall" in part for part in wire.parts_of(message["content"]))


def _typed(message: Record) -> tuple[str, str]:
    """What was typed is shown as it was, where the program added something to it."""
    shown = message.get("displayContent")
    return separate(wire.texts_of(shown if shown else message["content"]))
