"""What our plugin in opencode tells of an event (hot path). Its events bear the names of opencode's own hooks."""

from __future__ import annotations

from catmem.clients.payload import event_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

CLIENT = "opencode"
_FIELDS = {"cwd": "cwd", "prompt": "prompt", "prompt_id": "prompt_id", "reply": "reply"}


def parse(event_name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with the names of HookEvent. `raw` of a turn's end has the turn's messages (see history.turn)."""
    return event_of(CLIENT, event_name, payload, _FIELDS)
