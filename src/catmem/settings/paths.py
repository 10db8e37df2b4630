"""Where everything lies: the one place that turns a data directory into paths. Standard library only (hot path)."""

from __future__ import annotations

import os
from pathlib import Path

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
        self.snapshot = self.run / "settings.json"

    def make(self, folder: Path) -> Path:
        """Creates a folder of the data directory, private to the user."""
        if not folder.is_dir():
            folder.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
            if self.root.stat().st_mode & 0o077:
                self.root.chmod(DIRECTORY_MODE)
        return folder


def write_private(path: Path, data: bytes) -> None:
    """Writes a small file whole or not at all: a temporary beside it, fsync, rename."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
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
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
