"""What a hook answers to Claude Code: bytes for stdout, standard library only (hot path)."""

from __future__ import annotations

import json

# These two accept context; to every other event the host wants an empty answer (a foreign field is an error there).
_ACCEPTS_CONTEXT = ("SessionStart", "UserPromptSubmit")


def answer(event_name: str, context: str = "", notice: str = "") -> bytes:
    """The answer to one event: `context` for the model, `notice` as one line for the user. b"" says nothing.

    A context of more than 10,000 characters would be swapped for a file by the host; who makes it keeps below.
    """
    reply: dict[str, object] = {}
    if event_name in _ACCEPTS_CONTEXT and context:
        reply["hookSpecificOutput"] = {"hookEventName": event_name, "additionalContext": context}
    if event_name in _ACCEPTS_CONTEXT and notice:
        reply["systemMessage"] = notice
    # ASCII escapes: whatever encoding the host reads our output with, it is the same text.
    return json.dumps(reply).encode("ascii") if reply else b""
