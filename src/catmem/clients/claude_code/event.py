"""Claude Code's hook payload as we mean it (hot path)."""

from __future__ import annotations

from catmem.clients.claude_code.typed import is_bare_command, separate
from catmem.clients.payload import event_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from catmem.clients.port import HookEvent

CLIENT = "claude-code"
_FIELDS = {
    "cwd": "cwd",
    "transcript": "transcript_path",
    "prompt": "prompt",
    "prompt_id": "prompt_id",
    "source": "source",
    "reason": "reason",
    "reply": "last_assistant_message",
    "agent_id": "agent_id",
}


def session_key(session_id: str) -> str:
    """The key under which a session of Claude Code is kept."""
    return f"{CLIENT}:{session_id}"


def parse(event_name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with the names of HookEvent.

    `prompt` is what the person typed of it: "" for a bare command or a note of the program.
    """
    event = event_of(CLIENT, event_name, payload, _FIELDS)
    said = separate(event["prompt"])[0]
    event["prompt"] = "" if is_bare_command(said) else said
    return event


def typed_event(event_name: str, payload: Mapping[str, Any]) -> HookEvent:
    """The same as a HookEvent, for who is not in a hurry."""
    from catmem.clients.port import HookEvent

    return HookEvent(**parse(event_name, payload))
