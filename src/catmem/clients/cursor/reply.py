"""What a hook answers to Cursor (hot path)."""

from __future__ import annotations

from catmem.clients.context_reply import encoded


def answer(event_name: str, context: str = "", notice: str = "") -> bytes:
    """The answer to one event: `context` for the model. There is no line for the user that would not stop the prompt."""
    if event_name == "sessionStart" and context:
        return encoded({"additional_context": context})
    if event_name == "beforeSubmitPrompt" and context:
        return encoded({"continue": True, "additional_context": context})
    return b""
