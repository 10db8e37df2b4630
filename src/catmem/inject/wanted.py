"""What a worker is wanted for: written before one is started, taken by the one that gets the right to work (hot path).

Whoever finds another worker at it leaves, and that one may be past the session in question. So it looks here when it has
let go, and starts the next; and a session that begins waits for what was wanted a moment ago.
"""

from __future__ import annotations

import json
import math
import os
import time

from catmem.sessions.names import file_name
from catmem.settings.places import DIRECTORY_MODE, FILE_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from catmem.settings.paths import Paths
    from catmem.settings.places import Places

# Sessions that have ended need no name.
_ALL = "all"
_ENDING = ".json"


def want(places: Places | Paths, project: str = "", session: str = "") -> None:
    """Notes it; with a session, it is to be distilled although it is still in use."""
    folder = str(places.wanted)
    path = os.path.join(folder, (file_name(session) if session else _ALL) + _ENDING)
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(folder, mode=DIRECTORY_MODE, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        try:
            os.write(descriptor, json.dumps([project, session] if session else []).encode("utf-8", "surrogatepass"))
        finally:
            os.close(descriptor)
        os.replace(temporary, path)
    except OSError:
        return  # The start of the next session does all that is left.


def is_wanted(places: Places | Paths, *, within: float = math.inf) -> bool:
    """Whether anything is, or was within so many seconds."""
    folder, now = str(places.wanted), time.time()
    try:
        names = [name for name in os.listdir(folder) if name.endswith(_ENDING)]
        return any(now - os.stat(os.path.join(folder, name)).st_mtime < within for name in names)
    except OSError:
        return False  # Never made, or taken meanwhile.


def take(places: Places | Paths) -> list[tuple[str, str]]:
    """(project, session) of those in use; what is wanted after this call is for the next worker.

    Call it with the right to work, before anything is looked at.
    """
    folder, found = str(places.wanted), []
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_ENDING))
    except OSError:
        return []
    for name in names:
        path = os.path.join(folder, name)
        try:
            with open(path, "rb") as file:
                content = file.read()
            os.unlink(path)
            project, session = json.loads(content)
        except (OSError, ValueError):
            continue  # Of all, or not ours.
        if isinstance(project, str) and isinstance(session, str):
            found.append((project, session))
    return found
