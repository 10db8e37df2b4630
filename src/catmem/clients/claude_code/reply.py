"""What a hook answers to Claude Code (hot path)."""

from __future__ import annotations

from catmem.clients.context_reply import context_reply

# These two accept context; to every other event the host wants an empty answer (a foreign field is an error there).
_ACCEPTS_CONTEXT = ("SessionStart", "UserPromptSubmit")


def answer(event_name: str, context: str = "", notice: str = "") -> bytes:
    """The answer to one event: `context` for the model, `notice` as one line for the user. b"" says nothing.

    A context of more than 10,000 characters would be swapped for a file by the host; who makes it keeps below.
    """
    return context_reply(event_name, context, notice) if event_name in _ACCEPTS_CONTEXT else b""
