"""Reading a session file: every whole record of it, whatever has happened to the rest."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catmem.domain.errors import LockBusy, NotFound, StorageFailed
from catmem.domain.message import Message, ToolCall
from catmem.domain.session import SessionHeader
from catmem.sessions import body
from catmem.sessions import header as line1
from catmem.sessions.locks import session_lock
from catmem.sessions.names import Place
from catmem.sessions.quarantine import keep
from catmem.sessions.records import is_message, scan
from catmem.sessions.refusals import read_failed

# Damage is looked at a second time under the lock: an append in flight looks like a torn line. It lasts under 1 ms.
_SECOND_LOOK_WAIT = 1.0


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of a file that are no record, in whole or in part."""

    offset: int
    length: int
    reason: str


@dataclass(frozen=True, slots=True)
class SessionContent:
    """A session as its file says. `header` is derived from the body; `messages` are in the order of the file."""

    header: SessionHeader
    messages: tuple[Message, ...]
    marks: tuple[Mapping[str, Any], ...]
    damage: tuple[Damage, ...] = ()


@dataclass(frozen=True, slots=True)
class Parsed:
    """The records of a file, before they become messages; `bad` are `(offset, bytes, reason)`."""

    header: dict[str, Any]
    records: tuple[dict[str, Any], ...]
    bad: tuple[tuple[int, bytes, str], ...]


def read_file(place: Place) -> SessionContent:
    """All that can be read of a session. Damaged bytes are reported, and copied into the quarantine once.

    Raises NotFound, or StorageFailed if the file cannot be read at all; never because of what stands in it.
    """
    parsed = parse(bytes_of(place.file))
    if parsed.bad:
        parsed = _second_look(place, parsed)
    said = [record for record in parsed.records if is_message(record)]
    bad = parsed.bad
    # Asked for after the live file was read: what leaves that is in the archive before.
    if os.path.exists(place.archive):
        from catmem.sessions.archive import read_archive  # zstd is loaded only where there is one

        found = read_archive(place)
        said = _joined([record for _, record in found.lines], said)
        bad += found.bad
    messages = tuple(message_of(record, parsed.header["key"]) for record in said)
    marks = tuple(record for record in parsed.records if not is_message(record))
    damage = tuple(Damage(offset, len(raw), reason) for offset, raw, reason in bad)
    return SessionContent(header_of(parsed.header), messages, marks, damage)


def parse(data: bytes, key: str = "") -> Parsed:
    """The records of a file's bytes, each uid once, and the header that they make."""
    pieces = list(scan(data))
    bad: list[tuple[int, bytes, str]] = []
    said: dict[str, str] = {}
    if pieces:
        offset, raw, _, reason = pieces[0]
        has_line1, said = body.line1_of(pieces[0])
        if has_line1:
            fault = reason or line1.unpack(raw)[1]
            bad += [(offset, raw, fault)] if fault else []
            pieces = pieces[1:]
    key = key or body.owner(pieces, said.get("key", "")) or said.get("key", "")
    records: list[dict[str, Any]] = []
    uids: set[str] = set()
    for offset, raw, found, reason in pieces:
        mine, foreign = body.own(found, key)
        if reason or foreign:
            bad.append((offset, raw, reason or foreign))
        for _, record in mine:
            uid = record.get("uid", "") if is_message(record) else ""
            if uid not in uids:
                records.append(record)
            if uid:
                uids.add(uid)
    header = line1.rebuild(key, records)
    line1.fill(header, said)
    return Parsed(header, tuple(records), tuple(bad))


def _joined(archived: list[dict[str, Any]], live: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """All messages, each once, in the order of their ids; what both files have is taken from the live one."""
    ids = {record["id"] for record in live}
    uids = {record.get("uid") for record in live}
    older = {
        record["id"]: record
        for record in archived
        if record["id"] not in ids and not (record.get("uid") and record["uid"] in uids)
    }
    joined = [*older.values(), *live]
    if older and live and max(older) > live[0]["id"]:
        joined.sort(key=lambda record: int(record["id"]))
    return joined


def header_of(record: Mapping[str, Any]) -> SessionHeader:
    """The typed header of a line 1."""
    return SessionHeader(
        record["key"],
        record["title"],
        record["preview"],
        record["created_at"],
        record["updated_at"],
        record["last_consolidated"],
        line1.shown_metadata(record),
    )


def message_of(record: Mapping[str, Any], key: str = "") -> Message:
    """The typed message of a record; a field of a wrong type counts as missing."""
    usage = record.get("usage")
    return Message(
        role=record["role"],
        content=record["content"],
        timestamp=record.get("timestamp", ""),
        uid=record.get("uid", ""),
        id=record["id"],
        session_key=record.get("sessionKey") or key,
        parent=_text(record, "parent"),
        kind=_text(record, "kind"),
        tool_calls=_calls(record.get("toolCalls")),
        tool_call_id=_text(record, "toolCallId"),
        usage={name: n for name, n in usage.items() if isinstance(n, int)} if isinstance(usage, dict) else None,
    )


def last_value(marks: Sequence[Mapping[str, Any]], name: str, field: str) -> Any:
    """A field of the newest mark of a name, or None."""
    return next((mark.get(field) for mark in reversed(marks) if mark["mark"] == name), None)


def _second_look(place: Place, parsed: Parsed) -> Parsed:
    """Reads again while nobody writes. What is still damaged then is damaged, and is set aside."""
    try:
        with session_lock(place.lock, _SECOND_LOOK_WAIT):
            parsed = parse(bytes_of(place.file))
            keep(place.quarantine, parsed.bad)
    except (LockBusy, StorageFailed, OSError):
        # A read-only directory, or a busy one: the damage is reported all the same, and set aside by the next who can.
        return parsed
    return parsed


def bytes_of(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except FileNotFoundError as error:
        raise NotFound(f"no session in {path}; it was deleted meanwhile", f"{path} 中没有会话；它已被删除") from error
    except OSError as error:
        raise read_failed(path, error) from error


def _text(record: Mapping[str, Any], name: str) -> str:
    value = record.get(name, "")
    return value if isinstance(value, str) else ""


def _calls(value: object) -> tuple[ToolCall, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(
        ToolCall(_text(call, "id"), _text(call, "name"), _text(call, "arguments"))
        for call in value
        if isinstance(call, dict)
    )
