"""A hook's payload in our words, for every client alike (hot path: plain dicts, standard library only)."""

from __future__ import annotations

from catmem.clients.catalogue import CLIENTS
from catmem.domain.helper import is_helper_prompt

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# The fields of HookEvent that a host may fill. All are text; anything else in their place is taken for absent.
_TEXTS = ("cwd", "transcript", "prompt", "prompt_id", "source", "reason", "reply", "agent_id")


def event_of(
    client: str, event_name: str, payload: Mapping[str, Any], fields: Mapping[str, str], session: str = "session_id"
) -> dict[str, Any]:
    """The payload with the names of HookEvent; `fields` are our names -> the host's, `session` names its id.

    The event's name comes from the command line, and is the host's; ours stands in the catalogue. Its session is ""
    if the host named none: then nothing can be kept.
    """
    named = payload.get(session)
    event: dict[str, Any] = {
        "client": client,
        "name": CLIENTS[client]["events"].get(event_name, event_name),
        "session": f"{client}:{named}" if isinstance(named, str) and named else "",
        "raw": payload,
    }
    for ours in _TEXTS:
        value = payload.get(fields.get(ours, ""))
        event[ours] = value if isinstance(value, str) else ""
    event["helper"] = is_helper_prompt(event["prompt"])
    return event
