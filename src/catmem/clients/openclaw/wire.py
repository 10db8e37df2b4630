"""A session of OpenClaw, or of pi that it is built on: entries in a tree, and what channels put around a message."""

from __future__ import annotations

import re

from catmem.clients.draft import Record, records_in, text_of

# `[Thu 2026-01-29 10:15 GMT+1] `, also with the channel and the sender before the date.
_DATED = re.compile(r"\[[^\]\n]{0,200}\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,40}\][ \t]*")
# Blocks that tell of the sender and the talk; the words follow them.
_METADATA = re.compile(r"(?:Conversation info|Sender|Thread starter|Replied message|Forwarded message context|Chat history since last reply)"
                       r" \(untrusted[^)\n]*\):\n```json\n.*?\n```\s*", re.DOTALL)  # fmt: skip
_MESSAGE_ID = re.compile(r"\n\[message_id: [^\]\n]*\]\s*\Z")

USAGE = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cacheRead": "cache_read_input_tokens",
    "cacheWrite": "cache_creation_input_tokens",
}


def typed(text: str) -> str:
    """What the person typed: without the date before it and what the channel says of the sender."""
    words = text
    while match := _METADATA.match(words) or _DATED.match(words):
        words = words[match.end() :]
    return _MESSAGE_ID.sub("", words)


def content_text(message: Record) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text for text in map(_block_text, records_in(content)) if text)


def _block_text(block: Record) -> str:
    kind = text_of(block.get("type"))
    if kind == "image":
        return f"[{text_of(block.get('mimeType')) or 'image'}]"
    return text_of(block.get("text")) if kind in ("text", "") else ""


def calls_of(message: Record) -> list[Record]:
    return [block for block in records_in(message.get("content")) if block.get("type") == "toolCall"]
