"""Cursor's hook payload as we mean it (hot path)."""

from __future__ import annotations

from catmem.clients.payload import event_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CLIENT = "cursor"
_FIELDS = {"transcript": "transcript_path", "prompt": "prompt", "prompt_id": "generation_id", "reason": "reason"}


def parse(event_name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with the names of HookEvent: a talk is a conversation, its folder the first of the workspace."""
    event = event_of(CLIENT, event_name, payload, _FIELDS, session="conversation_id")
    roots = payload.get("workspace_roots")
    folder = roots[0] if isinstance(roots, list) and roots else ""
    event["cwd"] = folder if isinstance(folder, str) else ""
    return event
