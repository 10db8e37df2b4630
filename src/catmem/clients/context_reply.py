"""The answer that Claude Code, Codex and Gemini CLI take from a hook (hot path)."""

from __future__ import annotations

import json


def context_reply(event_name: str, context: str, notice: str) -> bytes:
    """`context` for the model, `notice` as one line for the user, as bytes for stdout. b"" says nothing.

    No other field may be in it: Codex drops an answer with one that it does not know.
    """
    reply: dict[str, object] = {}
    if context:
        reply["hookSpecificOutput"] = {"hookEventName": event_name, "additionalContext": context}
    if notice:
        reply["systemMessage"] = notice
    return encoded(reply)


def encoded(reply: dict[str, object]) -> bytes:
    """ASCII escapes: whatever encoding the host reads our output with, it is the same text."""
    return json.dumps(reply).encode("ascii") if reply else b""
