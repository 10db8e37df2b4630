"""What a hook answers to our plugin in opencode (hot path)."""

from __future__ import annotations

from catmem.clients.context_reply import encoded

# The event -> what the plugin makes of a context: a part of the system prompt, or a text beside the prompt.
_FIELDS = {"system.transform": "system", "chat.message": "beside"}


def answer(event_name: str, context: str = "", notice: str = "") -> bytes:
    """The answer to one event: `context` for the model. b"" says nothing."""
    return encoded({_FIELDS[event_name]: context}) if event_name in _FIELDS and context else b""
