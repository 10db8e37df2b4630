"""Gemini CLI's hook payload as we mean it (hot path)."""

from __future__ import annotations

from catmem.clients.gemini_cli.typed import separate
from catmem.clients.payload import event_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CLIENT = "gemini"
_FIELDS = {
    "cwd": "cwd",
    "transcript": "transcript_path",
    "prompt": "prompt",
    "source": "source",
    "reason": "reason",
    "reply": "prompt_response",
}


def parse(event_name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with the names of HookEvent.

    The host hands back in the prompt what hooks answered at the session's start; that is nobody's words. The reply that
    it names repeats pieces of the stream: where there is a chat to read, that says it better.
    """
    event = event_of(CLIENT, event_name, payload, _FIELDS)
    event["prompt"] = separate([event["prompt"]])[0]
    if event["transcript"]:
        event["reply"] = ""
    return event
