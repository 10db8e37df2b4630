"""The brief as the proxy puts it into requests: made once a session, and the very same bytes in each request of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from catmem.brief.brief import project_brief
from catmem.domain.clock import now
from catmem.index.reader import SearchReader
from catmem.inject.told import BRIEF, tell, told
from catmem.settings.language import language_of
from catmem.settings.places import Places

DOOR = "proxy"


def frozen_brief(places: Places, session: str, project: str, values: Mapping[str, Any], *, prompt: str = "") -> str:
    """What stands in every request of a session, "" if nothing does: there is nothing to tell, or a hook told it.

    values  the settings by name; those not named have their defaults
    prompt  what the session begins with, if this is its first request

    Raises DataDamaged if the index cannot be read.
    """
    before = told(places, session)
    if before is not None:
        return str(before["text"]) if before["door"] == DOOR else ""
    brief = project_brief(
        SearchReader(places.search),
        project,
        values,
        language=language_of(values.get("language", "auto")),
        now=round(time.time() * 1000),
        prompt=prompt,
    )
    tell(
        places, session, door=DOOR, event=BRIEF, project=project, at=now(), text=brief.text, items=brief.reasons
    )  # fmt: skip
    return str(brief.text)


def is_told(places: Places, session: str) -> bool:
    """True if a session has its brief, be it an empty one."""
    return told(places, session) is not None
