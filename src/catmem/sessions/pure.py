"""Pure mode: sessions without any memory, in or out (hot path).

A session that was held in pure mode is marked by a file with its key, and nothing of what was said in it. While the
mark stands no door takes it in, an import neither; `mem sessions keep KEY` takes the mark away.
"""

from __future__ import annotations

import json
import os

from catmem.sessions.names import file_name
from catmem.settings.places import DIRECTORY_MODE, FILE_MODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

PURE_ENV = "CATMEM_PURE"
_FOLDER = "pure"


def is_pure_environment(environment: Mapping[str, str]) -> bool:
    """True if the variables of a process ask for pure mode."""
    return environment.get(PURE_ENV, "") not in ("", "0")


def is_pure(root: str, key: str) -> bool:
    """True if the session was held in pure mode and nobody decided to keep it since."""
    return os.path.exists(_mark(root, key))


def set_pure(root: str, key: str, *, client: str = "", transcript: str = "", at: str = "") -> None:
    """Marks a session; again is no change. `transcript` is where its assistant writes it. Raises OSError."""
    path = _mark(root, key)
    if os.path.exists(path):
        return
    os.makedirs(os.path.dirname(path), mode=DIRECTORY_MODE, exist_ok=True)
    temporary = f"{path}.{os.getpid()}.tmp"
    record = {"key": key, "client": client, "transcript": transcript, "at": at}
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    try:
        os.write(descriptor, json.dumps(record).encode("ascii"))
    finally:
        os.close(descriptor)
    os.replace(temporary, path)


def unset_pure(root: str, key: str) -> dict[str, str] | None:
    """Takes the mark away and returns what stood in it; None if there was none. Raises OSError."""
    path = _mark(root, key)
    try:
        record = _read(path)
        os.unlink(path)
    except FileNotFoundError:
        return None
    return {"key": key, "client": "", "transcript": "", **record}


def pure_sessions(root: str) -> list[dict[str, str]]:
    """The marks that stand: {"key", "client", "transcript", "at"}, the oldest first."""
    folder = os.path.join(root, _FOLDER)
    try:
        names = [name for name in os.listdir(folder) if not name.endswith(".tmp")]
    except OSError:
        return []
    marks = [record for name in names if (record := _read(os.path.join(folder, name))).get("key")]
    return sorted(marks, key=lambda record: record.get("at", ""))


def _read(path: str) -> dict[str, str]:
    with open(path, "rb") as file:
        data = file.read()
    try:
        record = json.loads(data)
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in record.items()} if isinstance(record, dict) else {}


def _mark(root: str, key: str) -> str:
    return os.path.join(root, _FOLDER, file_name(key))
