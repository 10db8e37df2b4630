"""Why the model does not answer, as the worker noted it and a hook can afford to read it (hot path)."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from catmem.settings.paths import Paths
    from catmem.settings.places import Places

# What passes by itself is not worth a line at every session: only what waits for the user.
FOR_THE_USER = ("401", "404", "setup")


def trouble_in(places: Places | Paths) -> dict[str, str]:
    """{"kind", "en", "zh", "at"}, or {} while the model answers."""
    try:
        with open(places.model_trouble, "rb") as file:
            said = json.loads(file.read())
    except (OSError, ValueError):
        return {}
    sound = isinstance(said, dict) and all(isinstance(said.get(name), str) for name in ("kind", "en", "zh", "at"))
    return said if sound else {}
