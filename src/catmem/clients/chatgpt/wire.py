"""A conversation of a ChatGPT export as it is written: a tree of nodes, any field of which may be missing or null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catmem.clients.draft import record_of, text_of
from catmem.domain.clock import parse_instant, seconds_of

Record = Mapping[str, Any]

# What the content of each type says in; `parts` where it is not named here.
_TEXT_FIELDS = {
    "code": "text",
    "execution_output": "text",
    "tether_quote": "text",
    "tether_browsing_display": "result",
    "system_error": "text",
}
_ASSETS = {
    "image_asset_pointer": "[image]",
    "audio_asset_pointer": "[audio]",
    "real_time_user_audio_video_asset_pointer": "[audio]",
    "video_container_asset_pointer": "[video]",
}
# The model's thinking is not kept, as of no client.
_THOUGHTS = ("thoughts", "reasoning_recap")


def nodes_of(conversation: Record) -> dict[str, Record]:
    """The nodes by their ids, in the order of the file."""
    mapping = record_of(conversation.get("mapping"))
    return {str(name): node for name, node in mapping.items() if isinstance(node, dict)}


def parent_of(node: Record) -> str:
    return text_of(node.get("parent"))


def message_of(node: Record) -> Record:
    return record_of(node.get("message"))


def role_of(message: Record) -> str:
    return text_of(record_of(message.get("author")).get("role"))


def is_hidden(message: Record) -> bool:
    return record_of(message.get("metadata")).get("is_visually_hidden_from_conversation") is True


def content_text(message: Record) -> str:
    """The words of a message; a placeholder where there is a picture."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    content = record_of(content)
    kind = text_of(content.get("content_type"))
    if kind in _THOUGHTS:
        return ""
    if kind == "user_editable_context":
        fields = (text_of(content.get(name)) for name in ("user_profile", "user_instructions"))
        return "\n".join(field for field in fields if field)
    if kind in _TEXT_FIELDS and isinstance(content.get(_TEXT_FIELDS[kind]), str):
        return str(content[_TEXT_FIELDS[kind]])
    parts = content.get("parts")
    if not isinstance(parts, list):
        return text_of(content.get("text"))
    return "\n".join(text for text in map(_part_text, parts) if text)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    part = record_of(part)
    kind = text_of(part.get("content_type"))
    if kind in _ASSETS:
        return _ASSETS[kind]
    return text_of(part.get("text")) or (f"[{kind}]" if kind else "")


def is_call(message: Record) -> bool:
    """True for what the assistant said to a tool and not to the person."""
    return role_of(message) == "assistant" and text_of(message.get("recipient")) not in ("", "all")


def ordered(nodes: Mapping[str, Record]) -> list[str]:
    """The ids of the nodes in the order of time, no child before its parent. Links in a circle are cut."""
    keys: dict[str, tuple[float, int]] = {}
    for name in nodes:
        way: list[str] = []
        walked: set[str] = set()
        while name in nodes and name not in keys and name not in walked:
            walked.add(name)
            way.append(name)
            name = parent_of(nodes[name])
        at, depth = keys.get(name, (0.0, 0))
        for below in reversed(way):
            at, depth = max(at, _seconds(message_of(nodes[below]).get("create_time"))), depth + 1
            keys[below] = (at, depth)
    return sorted(nodes, key=lambda name: keys[name])


def leaf_of(conversation: Record, nodes: Mapping[str, Record], order: list[str]) -> str:
    """The node that the talk has come to: what the export names, or the newest that nothing follows."""
    current = text_of(conversation.get("current_node"))
    if current in nodes:
        return current
    parents = {parent_of(node) for node in nodes.values()}
    return next((name for name in reversed(order) if name not in parents and message_of(nodes[name])), "")


def _seconds(value: object) -> float:
    instant = parse_instant(value)
    return seconds_of(instant[0]) if instant else 0.0
