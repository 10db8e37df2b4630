"""The places of a data directory as paths, and writing a small file into one of them whole or not at all."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from catmem.domain.errors import StorageFailed
from catmem.settings import places
from catmem.settings.places import DIRECTORY_MODE, FILE_MODE, Places

# Between two pieces of a file that is being written passes far less.
WRITING_SECONDS = 60.0

__all__ = [
    "DIRECTORY_MODE", "FILE_MODE", "Paths", "default_root", "in_the_way", "leftovers", "remove_leftovers", "write_private",
]  # fmt: skip


def default_root() -> Path:
    """`CATMEM_DIR`, else `~/.catmem`."""
    return Path(places.default_root())


class Paths:
    """The layout of settings/places as paths; nothing is created by asking for one."""

    def __init__(self, root: Path) -> None:
        at = Places(str(root))
        self.root = Path(at.root)
        self.config = Path(at.config)
        self.messages = Path(at.messages)
        self.ledger = Path(at.ledger)
        self.database = Path(at.database)
        self.search = Path(at.search)
        self.index = Path(at.index)
        self.memory_page = Path(at.memory_page)
        self.projects = Path(at.projects)
        self.quarantine = Path(at.quarantine)
        self.key = Path(at.key)
        self.run = Path(at.run)
        self.locks = Path(at.locks)
        self.work_lock = Path(at.work_lock)
        self.wanted = Path(at.wanted)
        self.snapshot = Path(at.snapshot)
        self.registry = Path(at.registry)
        self.told = Path(at.told)
        self.changes = Path(at.changes)
        self.models = Path(at.models)
        self.spending = Path(at.spending)
        self.embedder = Path(at.embedder)
        self.hook_failures = Path(at.hook_failures)
        self.model_trouble = Path(at.model_trouble)

    def folders(self) -> tuple[Path, ...]:
        """The folders that catmem keeps in it, outer ones first; few data directories have all of them."""
        return (
            self.messages, self.ledger, self.search, self.memory_page.parent, self.projects, self.quarantine, self.run,
            self.locks, self.told, self.changes, self.wanted,
        )  # fmt: skip

    def make(self, folder: Path) -> Path:
        """Creates a folder of the data directory, private to the user. Raises StorageFailed."""
        try:
            if not folder.is_dir():
                folder.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
                if self.root.stat().st_mode & 0o077:
                    self.root.chmod(DIRECTORY_MODE)
        except (FileExistsError, NotADirectoryError) as error:
            raise in_the_way(folder) from error
        except OSError as error:
            raise StorageFailed(
                f"cannot make {folder}: {error.strerror}; name another data directory with --dir",
                f"无法创建 {folder}：{error.strerror}；请用 --dir 指定其他数据目录",
            ) from error
        return folder


def in_the_way(folder: Path) -> StorageFailed:
    """What is said of a file that lies where this folder, or one around it, should be. It may be the user's own, so it
    is left there."""
    file = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    return StorageFailed(
        f"{file} is no folder, and catmem keeps one there; move it away",
        f"{file} 不是文件夹，而 catmem 在那里需要一个文件夹；请把它移走",
    )


def write_private(path: Path, data: bytes) -> None:
    """Writes a small file whole or not at all: a temporary beside it, fsync, rename, fsync of the folder.

    A symbolic link stays one: what it points to is replaced. Raises OSError.
    """
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(3).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def leftovers(paths: Paths) -> Iterator[Path]:
    """What writers of ours leave when they are killed; each names its temporaries so."""
    for folder, _, names in os.walk(paths.root):
        if Path(folder).is_relative_to(paths.search):
            continue  # The search library's own, which cleans up after itself.
        yield from (Path(folder, name) for name in names if name.endswith(".tmp"))


def remove_leftovers(paths: Paths, seconds: float = WRITING_SECONDS) -> None:
    """Removes those that nobody has written to for so long. Raises OSError."""
    before = time.time() - seconds
    for path in leftovers(paths):
        with contextlib.suppress(FileNotFoundError):
            if path.lstat().st_mtime < before:
                path.unlink()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # Some network drives cannot; the file itself is safe already.
    finally:
        os.close(descriptor)
