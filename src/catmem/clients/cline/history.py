"""Reads tasks of Cline and Roo Code: a folder a task, `…/tasks/<id>/`.

What was shown to the person is the talk; what was sent to the model, which has no times, is read where that is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.cline import wire
from catmem.clients.draft import Draft, Record, record_of, records_in, text_of, tool_call
from catmem.clients.json_items import items_of
from catmem.clients.lines import records_of
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import WholeFileHistory, refuse_encodings, written_at
from catmem.domain.message import Role

CLIENT = "cline"
_HEAD_BYTES = 1 << 18


class ClineHistory(WholeFileHistory):
    """The History of Cline and Roo Code."""

    def knows(self, path: Path, head: bytes) -> bool:
        if path.name in (wire.UI, wire.OLD_UI):
            return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        return path.name == wire.API and not any((path.parent / name).exists() for name in (wire.UI, wire.OLD_UI))

    def read(self, path: Path, limit: int) -> Iterator[TranscriptChunk]:
        task = _Task(path)
        begun = 0
        for record, end in _records(path, task.draft):
            task.take(record)
            if end - begun >= limit:
                yield task.draft.chunk(end, at_end=False)
                begun = end
        beside = path.parent / wire.API
        if task.loose and path.name != wire.API and beside.exists():
            for record, _ in _records(beside, task.draft):
                task.take_loose(record)
        yield task.draft.chunk(path.stat().st_size)


READER = ClineHistory()


def _records(path: Path, draft: Draft) -> Iterator[tuple[Record, int]]:
    with path.open("rb") as file:
        refuse_encodings(path, file.read(512))
        file.seek(0)
        for item in items_of(file):
            if isinstance(item.value, dict):
                draft.read()
                yield item.value, item.end
            else:
                draft.fault(reasons.not_json(item.reason) if item.reason else reasons.NOT_A_RECORD, item.line)


class _Task:
    """One task. `loose` tells that its messages are bare {role, content}, as other programs write them."""

    def __init__(self, path: Path) -> None:
        folder = path.absolute().parent
        self.draft = Draft(str(path), f"{CLIENT}:{folder.name}", written_at(path))
        self.loose = False
        self._sent = path.name == wire.API
        self._names: Counter[str] = Counter()
        self._last_call = self._last_words = ""
        item = _history_item(folder)
        self._by_agent = bool(item.get("parentTaskId"))
        self.draft.title = text_of(item.get("task")) or text_of(item.get("title"))
        self.draft.cwd = text_of(item.get("cwdOnTaskInitialization")) or text_of(item.get("workspace"))
        if not self.draft.cwd and (folder / wire.API).exists():
            with (folder / wire.API).open("rb") as file:
                self.draft.cwd = wire.folder_in(file.read(_HEAD_BYTES).decode("utf-8", "replace"))

    def take(self, record: Record) -> None:
        if self._sent and "role" in record:
            self._take_sent(record)
        elif "say" in record or "ask" in record:
            self._take_shown(record)
        else:
            self.loose = True
            self.take_loose(record)

    def take_loose(self, record: Record) -> None:
        role = text_of(record.get("role")) or text_of(record.get("type"))
        text = text_of(record.get("text")) or "\n".join(wire.text_blocks(record))
        if role in ("user", "assistant"):
            said: Role = "user" if role == "user" else "assistant"
            self.draft.say(said, text, record.get("timestamp") or record.get("ts"))

    def _take_shown(self, message: Record) -> None:
        kind, text, at = wire.kind_of(message), text_of(message.get("text")), message.get("ts")
        if message.get("partial") is True:
            return  # a finished one follows
        uid, draft = self._uid(at, kind), self.draft
        if kind in wire.TYPED:
            typed = "\n".join(part for part in (text, wire.pictures(message)) if part)
            if kind == "task" and self._by_agent:
                draft.say("system", typed, at, uid=uid, kind="agent")
            else:
                draft.say("user", typed, at, uid=uid)
        elif kind in wire.SPOKEN:
            words = wire.spoken_text(kind, text)
            if words != self._last_words:  # a result is shown, then asked about
                draft.say("assistant", words, at, uid=uid)
            self._last_words = words
        elif kind in wire.CALLS and text:
            self._last_call = f"call-{uid or self._names['call']}"
            draft.say("assistant", "", at, uid=uid, calls=[tool_call(self._last_call, *wire.call_of(kind, text))])
        elif kind in wire.RESULTS:
            draft.say("tool", text, at, uid=uid, call_id=self._last_call)
        elif kind in wire.NOTICES:
            draft.say("system", text, at, uid=uid, kind="notice")
        elif kind in wire.SUMMARIES:
            draft.say(
                "system",
                text_of(record_of(message.get("contextCondense")).get("summary")) or text,
                at,
                uid=uid,
                kind="summary",
            )

    def _take_sent(self, message: Record) -> None:
        at, draft = message.get("ts"), self.draft
        blocks = records_in(message.get("content"))
        if message.get("role") == "assistant":
            calls = [
                tool_call(b.get("id"), b.get("name"), b.get("input")) for b in blocks if b.get("type") == "tool_use"
            ]
            draft.say("assistant", wire.sent_by_assistant(message), at, calls=calls, dated=False)
            return
        for block in blocks:
            if block.get("type") == "tool_result":
                call_id = text_of(block.get("tool_use_id"))
                draft.say("tool", wire.result_text(block), at, call_id=call_id, dated=False)
        parts = [wire.sent_by_user(text) for text in wire.text_blocks(message)]
        draft.say("user", "\n".join(typed for typed, _ in parts if typed), at, dated=False)
        draft.say("system", "\n".join(rest for _, rest in parts if rest), at, kind="notice", dated=False)

    def _uid(self, at: object, kind: str) -> str:
        """By its time, which stays while the text of a message still changes."""
        if not isinstance(at, int) or isinstance(at, bool):
            return ""
        name = f"{at}:{kind}"
        self._names[name] += 1
        return name if self._names[name] == 1 else f"{name}:{self._names[name]}"


def _history_item(folder: Path) -> Record:
    """What the program's list of tasks says of a task: of its own file, of the common list, or of its metadata."""
    own = record_of(_json(folder / "history_item.json"))
    if own:
        return own
    for listed in records_in(_json(folder.parent.parent / "state" / "taskHistory.json")):
        if str(listed.get("id")) == folder.name:
            return listed
    return record_of(_json(folder / "task_metadata.json"))


def _json(path: Path) -> object:
    try:
        values, reason = records_of(path.read_bytes())
    except OSError:
        return None
    return values[0] if values and not reason else None
