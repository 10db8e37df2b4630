"""Records of a Codex rollout as the program writes them (from the bare form of 2025 to 0.171): what each field means.

The list of kinds changes with each version: everything is read loosely, nothing is required.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from catmem.clients.draft import record_of, records_in, text_of

Record = Mapping[str, Any]

# A record of the program begins with one of these; after a torn write the next whole record is found by it.
HEADS = re.compile(r'\{"(?:timestamp|type|id|record_type)"')

_ENVELOPES = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"})
# Bare items of the old form have no envelope; a field of their own tells them from other programs' records.
_BARE = {
    "message": "role",
    "reasoning": "summary",
    "function_call": "call_id",
    "function_call_output": "call_id",
    "custom_tool_call": "call_id",
    "custom_tool_call_output": "call_id",
    "local_shell_call": "action",
}
_TURN_BEGINS = ("task_started", "turn_started", "user_message")
USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cached_input_tokens": "cache_read_input_tokens",
}


def opened(record: object) -> tuple[str, Record]:
    """The kind of a record and its payload; ("", {}) for what is none of this program."""
    if not isinstance(record, dict):
        return "", {}
    kind = text_of(record.get("type"))
    payload = record.get("payload")
    if isinstance(payload, dict):
        return kind, payload
    if kind in _BARE and _BARE[kind] in record:
        return "response_item", record
    if not kind and "id" in record and "timestamp" in record and ("instructions" in record or "git" in record):
        return "session_meta", record
    return "", {}


def is_rollout(records: Sequence[object]) -> bool:
    """True if one of the records is of this program."""
    return any(opened(record)[0] in _ENVELOPES for record in records)


def begins_turn(record: object) -> bool:
    """True for a record before which a file may be cut without parting two accounts of one message."""
    kind, payload = opened(record)
    named = payload.get("type")
    if kind == "event_msg":
        return named in _TURN_BEGINS
    return kind == "response_item" and named == "message" and payload.get("role") == "user"


def turn_of(payload: Record) -> str:
    """The id of the turn that a record names, "" if it names none."""
    details = record_of(payload.get("internal_chat_message_metadata_passthrough"))
    return text_of(payload.get("turn_id")) or text_of(details.get("turn_id"))


def is_inherited(record: object, payload: Record) -> bool:
    """True for a typed message that was copied from another session."""
    outer = record_of(record_of(record).get("metadata"))
    return bool(outer.get("inherited_user_message") or record_of(payload.get("metadata")).get("inherited_user_message"))


def user_item(payload: Record) -> Record | None:
    """What the person typed, of an event that tells of a whole item."""
    item = record_of(payload.get("item"))
    return item if payload.get("type") == "item_completed" and item.get("type") == "UserMessage" else None


def agent_item(payload: Record) -> Record | None:
    item = record_of(payload.get("item"))
    return item if payload.get("type") == "item_completed" and item.get("type") == "AgentMessage" else None


def texts_of(content: object) -> list[str]:
    """The parts of a content; an image is named, its data is not kept."""
    if isinstance(content, str):
        return [content]
    return [_part(item) for item in content] if isinstance(content, list) else []


def _part(item: object) -> str:
    if isinstance(item, str):
        return item
    record = record_of(item)
    text = text_of(record.get("text"))
    return text if text or "image" not in text_of(record.get("type")).lower() else "[image]"


def kinds_of(payload: Record, count: int) -> list[str]:
    """What each part of a content is, as newer versions say it; "" where they do not."""
    details = record_of(payload.get("internal_chat_message_metadata_passthrough"))
    kinds = details.get("content_item_kinds")
    if not isinstance(kinds, list) or len(kinds) != count:
        return [""] * count
    return ["" if kind == "unknown" else text_of(kind) for kind in kinds]


def pictures_of(payload: Record) -> list[str]:
    """What stands for the images of a typed message."""
    local = payload.get("local_images")
    named = [f"[image: {path}]" for path in local if isinstance(path, str)] if isinstance(local, list) else []
    images = payload.get("images")
    return named + ["[image]"] * (len(images) if isinstance(images, list) else 0)


def call_name(payload: Record) -> str:
    """A tool's name, that of a server before it."""
    name, space = text_of(payload.get("name")), text_of(payload.get("namespace"))
    return f"{space}__{name}" if space else name


def call_arguments(payload: Record) -> object:
    """The arguments as sent: JSON in a string, the text of a patch, or a command."""
    for field in ("arguments", "input"):
        if isinstance(payload.get(field), str):
            return payload[field] if field == "arguments" else {"input": payload[field]}
    return payload.get("action") or payload.get("arguments") or {}


def output_of(payload: Record) -> str:
    """What a tool returned: a text, parts, a record, or a record written as text."""
    output = payload.get("output")
    if isinstance(output, str) and output.startswith('{"output"'):
        try:
            output = json.loads(output)
        except ValueError:
            return text_of(output)
    if isinstance(output, dict):
        inner = output.get("output", output.get("content"))
        return "\n".join(texts_of(inner)) if inner is not None else json.dumps(output, ensure_ascii=False)
    return "\n".join(texts_of(output))


def parent_thread(meta: Record) -> str:
    """The session that another one was forked from, "" if it was not."""
    return text_of(meta.get("forked_from_id"))


def is_subagent(meta: Record) -> bool:
    """True for a session that an agent began: its "user" is that agent."""
    return "subagent" in record_of(meta.get("source")) or meta.get("thread_source") == "subagent"


def items_of(document: Record) -> list[Record]:
    """The records of the oldest form, one JSON object with the session and its items."""
    return [{**record_of(document.get("session")), "type": "", "instructions": ""}, *records_in(document.get("items"))]
