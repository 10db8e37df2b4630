"""Lines that opencode prints or others make of its sessions: `opencode run --format json`, messages one a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.draft import Draft, record_of, records_in, text_of
from catmem.clients.lines import read_lines, records_of
from catmem.clients.opencode.talk import Record, Talk, session_key
from catmem.clients.port import TranscriptChunk
from catmem.clients.whole_file import written_at


def are_lines(records: Sequence[object]) -> bool:
    """True if one of the records names a session as this program does, and holds a part or a message."""
    return any(
        isinstance(r, dict)
        and isinstance(r.get("sessionID"), str)
        and (isinstance(r.get("part"), dict) or ("role" in r and isinstance(r.get("time"), dict)))
        for r in records
    )


def sessions_in(path: Path) -> Iterator[TranscriptChunk]:
    """The sessions in a file of lines. A printed run tells what the assistant did, not what it was asked."""
    drafts: dict[str, Draft] = {}
    messages: dict[tuple[str, str], tuple[Record, list[Record]]] = {}
    faults = Draft(str(path), "", "")
    with path.open("rb") as file:
        for line in read_lines(file):
            records, reason = records_of(line.raw) if line.raw is not None else ([], "")
            if line.raw is None:
                faults.fault(reasons.too_long(line.end - line.start), line.number)
            elif reason:
                faults.fault(reasons.not_json(reason), line.number)
            for record in map(record_of, records):
                session = text_of(record.get("sessionID"))
                if session:
                    drafts.setdefault(session, Draft(str(path), session_key(session), written_at(path))).read()
                    _take(session, record, messages)
    if faults.problems or not drafts:
        yield faults.chunk()
    for session, draft in drafts.items():
        talk = Talk(draft, {})
        for (owner, _), (info, parts) in messages.items():
            if owner == session:
                talk.message(info, parts)
        yield draft.chunk(path.stat().st_size)


def _take(session: str, record: Record, messages: dict[tuple[str, str], tuple[Record, list[Record]]]) -> None:
    part = record_of(record.get("part"))
    if part:
        name = text_of(part.get("messageID"))
        info = {"id": name, "role": "assistant", "time": {"created": record.get("timestamp")}}
        messages.setdefault((session, name), (info, []))[1].append({"type": "", **part})
    elif record.get("role") == "tool":
        _answer(text_of(record.get("tool_call_id")), text_of(record.get("content")), messages)
    elif "role" in record:
        name = text_of(record.get("id")) or str(len(messages))
        text = [{"type": "text", "text": text_of(record.get("content"))}]
        calls = [_call(name, call) for call in records_in(record.get("tool_calls"))]
        messages[session, name] = (record, [*text, *calls])


def _call(message: str, call: Record) -> Record:
    name = text_of(call.get("id"))
    state = {"input": call.get("arguments")}
    return {"type": "tool", "id": f"{message}:{name}", "callID": name, "tool": call.get("name"), "state": state}


def _answer(call: str, output: str, messages: dict[tuple[str, str], tuple[Record, list[Record]]]) -> None:
    """A result on a line of its own belongs to the call before it."""
    for _, parts in reversed(messages.values()):
        for part in parts:
            if part["type"] == "tool" and part.get("callID") == call:
                part["state"].update(status="completed", output=output)
                return
