"""What went wrong in hooks, for `mem status` and `mem doctor` to show: a hook itself must be silent."""

from __future__ import annotations

import json
import os

from catmem.settings.places import DIRECTORY_MODE, FILE_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from catmem.settings.paths import Paths
    from catmem.settings.places import Places

# Enough to see what happens; older lines go.
KEPT_BYTES = 64 << 10


def record_failure(places: Places | Paths, event: str, error: BaseException, at: str) -> None:
    """Appends one line: when, which event, what kind of error. No text of the user's, no message of the error's."""
    line = json.dumps({"at": at, "event": event, "error": type(error).__name__, "where": _where(error)}) + "\n"
    path = str(places.hook_failures)
    try:
        os.makedirs(os.path.dirname(path), mode=DIRECTORY_MODE, exist_ok=True)
        if os.path.exists(path) and os.path.getsize(path) > KEPT_BYTES:
            os.replace(path, path + ".old")
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, FILE_MODE)
        try:
            os.write(descriptor, line.encode())
        finally:
            os.close(descriptor)
    except OSError:
        # A disk that refuses even this shows in `mem doctor`.
        return


def recent_failures(places: Places | Paths) -> list[dict[str, str]]:
    """The failures on record, oldest first."""
    found = []
    for path in (f"{places.hook_failures}.old", str(places.hook_failures)):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                for line in file:
                    try:
                        found.append({str(k): str(v) for k, v in json.loads(line).items()})
                    except (ValueError, AttributeError):
                        continue
        except OSError:
            continue
    return found


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f"{os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno}"
