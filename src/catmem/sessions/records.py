"""The records of a session as plain dicts, and the line of bytes that each is on disk (hot path).

A message: {"id","sessionKey","role","content","timestamp","uid"?,"parent"?,"kind"?,"toolCalls"?,"toolCallId"?,"usage"?}
A mark:    {"mark","sessionKey","timestamp",…}: what is known of the session besides its messages.
"""

from __future__ import annotations

import json

from catmem.text.encoding import clean

TYPE_CHECKING = False  # typing itself would cost the hook 5 ms
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from catmem.domain.message import Message
    from catmem.domain.session import SessionHeader

    Record = dict[str, Any]
    Piece = tuple[int, bytes, list[tuple[bytes, Record]], str]

ROLES = frozenset({"user", "assistant", "tool", "system"})

INTERRUPTED = "interrupted"
"""The kind of a result that nobody gave: the assistant was stopped between the call and its end."""

# Beyond it a JSON number is no longer exact for other readers, and a flipped digit more likely than so many messages.
_LARGEST_ID = 2**53

# What JSON allows bare, but other readers take for the end of a line, or terminals for a command.
_ESCAPED = {chr(point): f"\\u{point:04x}" for point in (0x7F, *range(0x80, 0xA0), 0x2028, 0x2029)}

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
# Not strict: a raw control character inside a string is damage that costs nothing.
_DECODER = json.JSONDecoder(strict=False)

_BOM = b"\xef\xbb\xbf"


def message_record(
    role: str,
    content: str,
    timestamp: str,
    *,
    key: str = "",
    uid: str = "",
    parent: str = "",
    kind: str = "",
    tool_calls: Iterable[Mapping[str, str]] = (),
    tool_call_id: str = "",
    usage: Mapping[str, int] | None = None,
) -> Record:
    """A message that has no id yet (0): the file gives it one. `tool_calls` are {"id","name","arguments"}."""
    record: Record = {"id": 0, "sessionKey": key, "role": role, "content": content, "timestamp": timestamp}
    for name, text in (("uid", uid), ("parent", parent), ("kind", kind), ("toolCallId", tool_call_id)):
        if text:
            record[name] = text
    calls = [dict(call) for call in tool_calls]
    if calls:
        record["toolCalls"] = calls
    if usage:
        record["usage"] = dict(usage)
    return record


def mark_record(name: str, timestamp: str, *, key: str = "", **fields: object) -> Record:
    """A mark, for example `mark_record("source", now, path=…, offset=…, size=…, inode=…)`."""
    return {"mark": name, "sessionKey": key, "timestamp": timestamp, **fields}


def encode(record: Mapping[str, Any]) -> bytes:
    """One line, ending in a newline and holding no other: whatever the text, physical lines are records."""
    return encode_stored(stored(record))


def encode_stored(record: Mapping[str, Any]) -> bytes:
    """The line of a record that has been through `stored`."""
    return dump(record).encode() + b"\n"


def dump(value: object) -> str:
    """Compact JSON in which every character that may end a line or command a terminal is escaped."""
    text = _ENCODER.encode(value)
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    for character, escape in _ESCAPED.items():
        if character in text:
            text = text.replace(character, escape)
    return text


def stored(value: Any) -> Any:
    """The value as JSON can hold it: clean texts, text keys, finite numbers; anything else by its name."""
    if isinstance(value, str):
        return clean(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if abs(value) != float("inf") and value == value else None
    if isinstance(value, dict):
        return {clean(str(name)): _stored_arguments(name, item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [stored(item) for item in value]
    return clean(str(value))


def _stored_arguments(name: object, item: Any) -> Any:
    r"""Tool arguments are JSON inside a text: a lone `\ud83d` in there would break whoever parses it later."""
    if name == "arguments" and isinstance(item, str) and "\\u" in item:
        try:
            inside = _DECODER.decode(item)
            cleaned = stored(inside)
        except (ValueError, RecursionError):
            return clean(item)
        if cleaned != inside:
            return dump(cleaned)
    return stored(item)


def read_json(raw: bytes) -> Any:
    """The value of a line of JSON, or None if it is none."""
    try:
        return _DECODER.decode(raw.decode())
    except (ValueError, RecursionError):
        return None


def message_to_record(message: Message) -> Record:
    """The record of a typed message, as it stands in the file and in an export."""
    record = message_record(
        message.role,
        message.content,
        message.timestamp,
        key=message.session_key,
        uid=message.uid,
        parent=message.parent,
        kind=message.kind,
        tool_calls=[{"id": call.id, "name": call.name, "arguments": call.arguments} for call in message.tool_calls],
        tool_call_id=message.tool_call_id,
        usage=message.usage,
    )
    record["id"] = message.id
    return record


def header_record(header: SessionHeader) -> Record:
    """Line 1 as a listing or an export shows it: without what describes the file and not the session."""
    return {
        "key": header.key,
        "title": header.title,
        "preview": header.preview,
        "created_at": header.created_at,
        "updated_at": header.updated_at,
        "last_consolidated": header.last_consolidated,
        "metadata": dict(header.metadata),
    }


def scan(data: bytes, base: int = 0) -> Iterator[Piece]:
    r"""Every line of `data`: `(offset, raw, [(its bytes, record)…], reason)`; `base` is the offset of `data`.

    Lines end at `\n` bytes and nowhere else; `raw` includes it. A line with nothing wrong has the reason "".
    A blank line has no records and no reason. A last line without its newline is read like the others.
    """
    start, end = 0, len(data)
    while start < end:
        stop = data.find(b"\n", start) + 1 or end
        raw = data[start:stop]
        records, reason = read_line(raw)
        yield base + start, raw, records, reason
        start = stop


def read_line(raw: bytes) -> tuple[list[tuple[bytes, Record]], str]:
    """The records of one line, each with the bytes it stands in, and what is wrong with the line ("" if nothing)."""
    body = raw.strip(b" \t\r\n\x00")
    reason = "NUL bytes" if b"\x00" in raw else ""
    if body.startswith(_BOM):
        body = body[len(_BOM) :]
        reason = reason or ("" if body else "a byte order mark alone")
    if not body:
        return [], reason
    try:
        value = _DECODER.decode(body.decode())
    except UnicodeDecodeError:
        return _salvage(body, "not UTF-8")
    except (ValueError, RecursionError):
        return _salvage(body, "not JSON")
    if not is_record(value) and not is_header(value):
        return [], "not a record"
    return [(body, _loaded(value, body))], reason


def is_interruption(message: Mapping[str, Any]) -> bool:
    """True for a result that nobody gave: one of ours, in place of what was never recorded."""
    return message.get("kind") == INTERRUPTED and message["role"] == "tool"


def is_record(value: object) -> bool:
    """True for a message or a mark as described above; unknown fields of a later version do no harm."""
    if not isinstance(value, dict) or not isinstance(value.get("sessionKey", ""), str):
        return False
    if not isinstance(value.get("timestamp", ""), str):
        return False
    if "mark" in value:
        return isinstance(value["mark"], str)
    number = value.get("id")
    return (
        isinstance(number, int)
        and not isinstance(number, bool)
        and 0 < number < _LARGEST_ID
        and value.get("role") in ROLES
        and isinstance(value.get("content"), str)
        and isinstance(value.get("uid", ""), str)
    )


def is_message(record: Mapping[str, Any]) -> bool:
    return "mark" not in record


def is_header(value: object) -> bool:
    """True for what can only be meant as a line 1, whatever its values."""
    return isinstance(value, dict) and "key" in value and "metadata" in value and "id" not in value


def _loaded(record: Record, body: bytes) -> Record:
    """Cleans what another program wrote into the line: only an escape can bring a lone surrogate or a NUL."""
    if b"\\u" not in body:
        return record
    cleaned: Record = stored(record)
    return cleaned


def _salvage(body: bytes, reason: str) -> tuple[list[tuple[bytes, Record]], str]:
    """The whole records inside a damaged line: two that were fused, or one behind the torn head of another."""
    starts = _starts(body)
    found: list[tuple[bytes, Record]] = []
    left = len(body)
    for start, stop in zip(starts, [*starts[1:], len(body)], strict=False):
        # surrogateescape keeps the count of bytes where the damage is not UTF-8; encoding strictly then refuses it.
        text = body[start:stop].decode("utf-8", "surrogateescape")
        try:
            value, length = _DECODER.raw_decode(text)
            whole = text[:length].encode()
        except (ValueError, RecursionError):
            continue
        if is_record(value):
            found.append((whole, _loaded(value, whole)))
            left -= len(whole)
    return found, "two records on one line" if found and not left else reason


def _starts(body: bytes) -> list[int]:
    """Where a record of ours may begin. Inside a string of JSON the quotes would be escaped, so a find is a start."""
    import re  # only for damage; json has loaded it already

    return [found.start() for found in re.finditer(rb'\{"(?:id":\d+|mark":"[^"\\]*"),"sessionKey":', body)]
