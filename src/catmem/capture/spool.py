"""Records that could not be appended in time because their session was locked: kept aside, taken in by the worker."""

from __future__ import annotations

import json
import os
import time

from catmem.domain.errors import LockBusy
from catmem.sessions.file import append
from catmem.sessions.locks import LOCK_WAIT, make_folder
from catmem.sessions.names import place
from catmem.settings.places import Places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ENDING = ".json"


def spool_folder(root: str) -> str:
    return os.path.join(root, "run", "spool")


def spool(root: str, entry: dict[str, Any]) -> None:
    """Keeps {"project", "key", "records", "listing"}, the records having passed the door. Raises OSError."""
    folder = spool_folder(root)
    make_folder(folder)
    name = f"{time.time_ns():020d}-{os.getpid()}{_ENDING}"
    temporary = os.path.join(folder, f".{name}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, json.dumps(entry).encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(temporary, os.path.join(folder, name))


def drain(root: str, durability: str = "turn", wait: float = LOCK_WAIT) -> int:
    """Appends what waits, oldest first. Returns how many entries; one that is still locked out stays, and what is none
    of ours is set aside in the quarantine. Raises StorageFailed."""
    folder = spool_folder(root)
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(_ENDING) and not name.startswith("."))
    except FileNotFoundError:
        return 0
    taken, locked = 0, set[tuple[str, str]]()
    for name in names:
        path = os.path.join(folder, name)
        entry = _entry(path)
        if entry is None:
            _set_aside(root, path)
            continue
        project, key = entry["project"], entry["key"]
        if (project, key) in locked:
            continue  # What was said later stays behind what was said before.
        try:
            append(
                place(root, project, key),
                key,
                entry["records"],
                listing=entry["listing"],
                durability=durability,
                whole_file_dedupe=True,
                wait=wait,
            )
        except LockBusy:
            locked.add((project, key))
            continue
        os.unlink(path)
        taken += 1
    return taken


def _entry(path: str) -> dict[str, Any] | None:
    """What a file holds; None if it was damaged."""
    try:
        with open(path, "rb") as file:
            entry = json.loads(file.read())
    except ValueError:
        return None
    shape = {"project": str, "key": str, "records": list, "listing": dict}
    sound = isinstance(entry, dict) and all(isinstance(entry.get(name), kind) for name, kind in shape.items())
    return entry if sound and all(isinstance(record, dict) for record in entry["records"]) else None


def _set_aside(root: str, path: str) -> None:
    folder = Places(root).quarantine
    make_folder(folder)
    os.replace(path, os.path.join(folder, f"spool-{os.path.basename(path)}"))
