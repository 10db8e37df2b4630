"""What a hook answers to Codex (hot path)."""

from __future__ import annotations

from catmem.clients.context_reply import context_reply

_ACCEPTS_CONTEXT = ("SessionStart", "UserPromptSubmit")


def answer(event_name: str, context: str = "", notice: str = "") -> bytes:
    """The answer to one event: `context` for the model, `notice` as one line for the user. b"" says nothing."""
    return context_reply(event_name, context, notice) if event_name in _ACCEPTS_CONTEXT else b""
