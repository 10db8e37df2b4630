"""Lines of a Claude Code transcript as the program writes them (1.0.98 to 2.1.218): what each field means.

"The entry format is internal and changes between versions": everything is read loosely, nothing is required.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from catmem.clients.lines import cleaned, full_size, shortened
from catmem.domain.message import ToolCall

Record = Mapping[str, Any]

# A record of the program begins with one of these; after a torn write the next whole record is found by it.
HEADS = re.compile(r'\{"(?:parentUuid|type|uuid|sessionId|isSidechain|agentId)"')

# What a tool printed is kept up to here; the file itself, the log, the page can be looked up where it came from.
TOOL_LIMIT = 64 << 10
# One string among the arguments of a call, so that the whole stays JSON within TOOL_LIMIT.
ARGUMENT_LIMIT = 16 << 10

_USAGE = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_REMINDER = re.compile(r"(?:^|\n)[ \t]*<system-reminder>.*?</system-reminder>[ \t]*(?=\n|\Z)", re.DOTALL)


def text_of(value: object) -> str:
    """A field that should be text, as text that may be kept."""
    return cleaned(value) if isinstance(value, str) else ""


def message_of(record: Record) -> Record:
    message = record.get("message")
    return message if isinstance(message, dict) else {}


def blocks_of(record: Record) -> list[Record]:
    """The content of a message as blocks; a bare string is one text block."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [{"type": "text", "text": b} if isinstance(b, str) else b for b in content if isinstance(b, str | dict)]


def placeholder(block: Record) -> str:
    """What stands for an image or a document: its kind and size, never its data."""
    source = block.get("source")
    source = source if isinstance(source, dict) else {}
    kind = text_of(source.get("media_type")) or text_of(block.get("type")) or "data"
    data = source.get("data")
    if not isinstance(data, str):
        return f"[{kind}]"
    size = full_size(data)
    return f"[{kind}, {_size(size * 3 // 4 if source.get('type') == 'base64' else size)}]"


def _size(size: int) -> str:
    for unit in ("B", "KB", "MB"):
        if size < 1024:
            return f"{size} {unit}"
        size = round(size / 1024)
    return f"{size} GB"


def result_text(block: Record) -> str:
    """What a tool returned, without the program's reminders, in at most TOOL_LIMIT bytes."""
    content = block.get("content")
    if isinstance(content, list):
        parts = [text_of(b.get("text")) if b.get("type") == "text" else placeholder(b) for b in _dicts(content)]
        text = "\n".join(part for part in parts if part)
    else:
        text = text_of(content)
    if "<system-reminder>" in text:
        text = _REMINDER.sub("", text).strip("\n")
    return shortened(text, TOOL_LIMIT)


def _dicts(values: list[Any]) -> Iterator[Record]:
    return (value for value in values if isinstance(value, dict))


def call_of(block: Record) -> ToolCall:
    """A tool call; long strings among its arguments are shortened, so that the text stays JSON."""
    arguments = _trimmed(block.get("input"))
    text = cleaned(json.dumps(arguments if arguments is not None else {}, ensure_ascii=False))
    if len(text.encode()) > TOOL_LIMIT:
        text = json.dumps({"left_out": shortened(text, TOOL_LIMIT // 2)}, ensure_ascii=False)
    return ToolCall(text_of(block.get("id")), text_of(block.get("name")), text)


def _trimmed(value: Any, depth: int = 0) -> Any:
    if isinstance(value, str):
        return shortened(cleaned(value), ARGUMENT_LIMIT)
    if depth > 20:
        return None
    if isinstance(value, dict):
        return {cleaned(str(key)): _trimmed(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_trimmed(item, depth + 1) for item in value]
    return value


def usage_of(record: Record) -> dict[str, int] | None:
    usage = message_of(record).get("usage")
    if not isinstance(usage, dict):
        return None
    counted = {name: usage[name] for name in _USAGE if isinstance(usage.get(name), int)}
    return counted or None


def is_side_chain(record: Record) -> bool:
    """True for a line written by or for a subagent."""
    return record.get("isSidechain") is True


def is_written_by_program(record: Record) -> bool:
    """True for a user line that its flags show to be the program's: nothing in it was typed."""
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, dict) else None
    return bool(
        record.get("isMeta") is True
        or record.get("isVisibleInTranscriptOnly") is True
        or isinstance(record.get("planContent"), str)
        or (isinstance(kind, str) and kind != "human")
    )


def is_error_text(record: Record) -> bool:
    """True for an assistant line that the program wrote itself: an API error, or a filler after an interruption."""
    return record.get("isApiErrorMessage") is True or message_of(record).get("model") == "<synthetic>"


def kind_of(record: Record) -> str:
    """The kind of line; where the field is missing, the role of its message tells."""
    kind = record.get("type")
    if not isinstance(kind, str):
        role = message_of(record).get("role")
        kind = role if isinstance(role, str) else ""
    return kind
