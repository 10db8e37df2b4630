"""Codex's hook payload as we mean it: nearly Claude Code's own (hot path)."""

from __future__ import annotations

from catmem.clients.codex.typed import separate
from catmem.clients.payload import event_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CLIENT = "codex"
# A rollout names its turns; so a prompt met in it later is known again.
_FIELDS = {
    "cwd": "cwd",
    "transcript": "transcript_path",
    "prompt": "prompt",
    "prompt_id": "turn_id",
    "source": "source",
    "reason": "reason",
    "reply": "last_assistant_message",
    "agent_id": "agent_id",
}


def parse(event_name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with the names of HookEvent; `prompt` is what the person typed of it."""
    event = event_of(CLIENT, event_name, payload, _FIELDS)
    event["prompt"] = separate(event["prompt"])[0]
    return event
