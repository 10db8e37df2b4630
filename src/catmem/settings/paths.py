"""Where everything lies: the one place that turns a data directory into paths. Standard library only (hot path)."""

from __future__ import annotations

import os
from pathlib import Path

from catmem.domain.errors import StorageFailed

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600


def default_root() -> Path:
    """`CATMEM_DIR`, else `~/.catmem`."""
    named = os.environ.get("CATMEM_DIR")
    return Path(named).expanduser() if named else Path.home() / ".catmem"


class Paths:
    """The places of a data directory; nothing is created by asking for a path."""

    __slots__ = (
        "config",
        "database",
        "index",
        "key",
        "ledger",
        "locks",
        "messages",
        "projects",
        "quarantine",
        "root",
        "run",
        "search",
        "snapshot",
        "work_lock",
    )

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "config.yaml"
        self.messages = root / "messages"
        self.ledger = root / "ledger"
        self.database = root / "memories.db"
        self.search = root / "search"
        self.index = root / "index.json"
        self.projects = root / "projects"
        self.quarantine = root / "quarantine"
        # The key of the keyed hash that stands for a redacted secret.
        self.key = root / "secrets.key"
        # What this machine needs while it runs: locks, the settings' snapshot, briefs shown, backups of installs.
        self.run = root / "run"
        self.locks = self.run / "locks"
        self.work_lock = self.locks / "work.lock"
        self.snapshot = self.run / "settings.json"

    def make(self, folder: Path) -> Path:
        """Creates a folder of the data directory, private to the user. Raises StorageFailed."""
        try:
            if not folder.is_dir():
                folder.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
                if self.root.stat().st_mode & 0o077:
                    self.root.chmod(DIRECTORY_MODE)
        except OSError as error:
            raise StorageFailed(
                f"cannot make {folder}: {error.strerror}; name another data directory with --dir",
                f"无法创建 {folder}：{error.strerror}；请用 --dir 指定其他数据目录",
            ) from error
        return folder


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


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # Some network drives cannot; the file itself is safe already.
    finally:
        os.close(descriptor)
