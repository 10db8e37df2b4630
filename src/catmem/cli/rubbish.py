"""What of a data directory nobody needs any more, and how it goes: for `mem gc`. Nothing that was said is ever here."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from catmem.domain.errors import LockBusy, StorageFailed
from catmem.sessions.locks import session_lock
from catmem.sessions.names import ENDING, place_of_file
from catmem.settings.paths import Paths, leftovers
from catmem.store import vacuum
from catmem.wiring import Catmem

_DAY = 86400.0
# A write of a file takes seconds; what is a day old was left by a kill.
TEMPORARY_SECONDS = _DAY
# A session that is resumed knows by it what it has been told; see cli/work.
BRIEF_SECONDS = 30 * _DAY
_LOCK = ".lock"


@dataclass(frozen=True, slots=True)
class Rubbish:
    """Something that can go: `what` it is, how many of it, how many bytes; `remove` gives the bytes that came back."""

    what: str
    count: int
    bytes: int
    remove: Callable[[], int]


def rubbish_of(catmem: Catmem, quarantine_days: int | None) -> list[Rubbish]:
    """All that can go now. Of the quarantine only what is older than so many days, and nothing for None."""
    paths, moment = catmem.paths, catmem.clock()
    found = [
        _files("briefs", _older(paths.told.glob("*.jsonl"), moment - BRIEF_SECONDS)),
        _files("temporaries", _older(leftovers(paths), moment - TEMPORARY_SECONDS)),
        _locks(paths),
    ]
    if quarantine_days is not None:
        kept = (path for path in paths.quarantine.rglob("*") if path.is_file())
        found.append(_files("quarantine", _older(kept, moment - quarantine_days * _DAY)))
    if paths.database.exists():
        unused = vacuum.unused_bytes(catmem.store)
        if unused >= vacuum.LEAST_BYTES:
            found.append(Rubbish("database", 1, unused, lambda: vacuum.vacuum(catmem.store, paths)))
    return [rubbish for rubbish in found if rubbish.count]


def _files(what: str, paths: Iterable[Path]) -> Rubbish:
    chosen = sorted(paths)
    return Rubbish(what, len(chosen), sum(_size(path) for path in chosen), lambda: sum(map(_unlink, chosen)))


def _older(paths: Iterable[Path], before: float) -> Iterator[Path]:
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            if path.lstat().st_mtime < before:
                yield path


def _locks(paths: Paths) -> Rubbish:
    """The locks of sessions that are gone. Those of the directory itself stand beside their folders and stay."""
    orphans = sorted(path for path in paths.locks.glob(f"*/*{_LOCK}") if not _has_session(paths, path))

    def remove() -> int:
        for path in orphans:
            _remove_lock(paths, path)
        return 0

    return Rubbish("locks", len(orphans), 0, remove)


def _has_session(paths: Paths, lock: Path) -> bool:
    place = place_of_file(str(paths.root), lock.parent.name, lock.name.removesuffix(_LOCK) + ENDING)
    return os.path.exists(place.file) or os.path.exists(place.archive)


def _remove_lock(paths: Paths, lock: Path) -> None:
    """Under the lock itself, so that nobody begins the session meanwhile; who waits for it takes a new one then."""
    try:
        with session_lock(str(lock), 0):
            if _has_session(paths, lock):
                return
            lock.unlink(missing_ok=True)
        lock.parent.rmdir()
    except (LockBusy, StorageFailed, OSError):
        # In use, or its folder has more of them: next time then.
        return


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except FileNotFoundError:
        return 0


def _unlink(path: Path) -> int:
    size = _size(path)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StorageFailed(
            f"cannot remove {path}: {error.strerror}; check its permissions",
            f"无法删除 {path}：{error.strerror}；请检查权限",
        ) from error
    return size
