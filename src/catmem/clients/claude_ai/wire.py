"""A conversation of a Claude.ai export as it is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catmem.clients.draft import record_of, records_in, text_of

Record = Mapping[str, Any]

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
# The model's thinking is not kept; the budget is a note of the program.
_SILENT = ("thinking", "redacted_thinking", "token_budget", "flag")


def role_of(message: Record) -> str:
    return _ROLES.get(text_of(message.get("sender")) or text_of(message.get("role")), "")


def said_text(message: Record) -> str:
    """What was said: the blocks, or the flat text where there are none; then what was pasted, which stands nowhere else."""
    blocks = [_block_text(block) for block in records_in(message.get("content"))]
    parts = [text for text in blocks if text.strip()] or [text_of(message.get("text"))]
    for attachment in records_in(message.get("attachments")):
        parts.append(_attached(attachment))
    named = (text_of(file.get("file_name")) for file in records_in(message.get("files")))
    parts += [f"[file {name}]" for name in named if name]
    return "\n\n".join(part for part in parts if part.strip())


def _block_text(block: Record) -> str:
    kind = text_of(block.get("type"))
    if kind in (*_SILENT, "tool_use", "tool_result"):
        return ""
    if kind in ("image", "document"):
        return f"[{kind}]"
    return text_of(block.get("text")) or text_of(block.get("transcript"))


def _attached(attachment: Record) -> str:
    name, text = text_of(attachment.get("file_name")), text_of(attachment.get("extracted_content"))
    if not text:
        return f"[file {name}]" if name else ""
    # A long paste has no name of its own.
    return f"[{name}]\n{text}" if name else text


def calls_of(message: Record) -> list[Record]:
    return [block for block in records_in(message.get("content")) if block.get("type") == "tool_use"]


def results_of(message: Record) -> list[Record]:
    return [block for block in records_in(message.get("content")) if block.get("type") == "tool_result"]


def result_text(block: Record) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return content
    texts = (text_of(part.get("text")) or text_of(record_of(part).get("title")) for part in records_in(content))
    return "\n".join(text for text in texts if text)
