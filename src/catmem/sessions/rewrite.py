"""Replaces a file whole: it is fully the old one or fully the new one, whenever the power goes. Not for appending."""
# No pathlib: loaded by the hot path when a line 1 must be laid out anew

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TEMPORARY = ".tmp"
# Windows refuses to replace a file that a scanner or an indexer has open; they let go within a second.
_ATTEMPTS = 5
_PAUSE = 0.05


def replace_file(path: str, pieces: Iterable[bytes]) -> None:
    """Writes a temporary beside `path`, syncs it, renames it, syncs the folder. On an OSError nothing is left."""
    temporary = f"{path}.{os.getpid()}-{os.urandom(4).hex()}{TEMPORARY}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            for piece in pieces:
                view = memoryview(piece)
                while view:
                    view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        _rename(temporary, path)
    except BaseException:
        _remove(temporary)
        raise
    sync_folder(os.path.dirname(path))


def sync_folder(folder: str) -> None:
    """Makes a new or renamed file of a folder survive a power loss; where folders cannot be synced, does nothing."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return  # Windows opens no folders, and needs no sync of them
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_temporaries(folder: str, file: str) -> int:
    """Removes what a killed rewrite of this file left. Call it under the session's lock."""
    left = temporaries(folder, file)
    for path in left:
        _remove(path)
    return len(left)


def temporaries(folder: str, file: str) -> list[str]:
    """What a killed rewrite of this file left, or one that is going on writes; [] where there is no such folder."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return [os.path.join(folder, name) for name in names if name.startswith(file + ".") and name.endswith(TEMPORARY)]


def _rename(temporary: str, path: str) -> None:
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            os.replace(temporary, path)
            return
        except PermissionError:
            if attempt == _ATTEMPTS:
                raise
            time.sleep(_PAUSE * attempt)


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
