"""The layout of a data directory as plain strings: what a hook can afford (pathlib would cost it 4 ms)."""

from __future__ import annotations

import os

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700


def default_root() -> str:
    """`CATMEM_DIR`, else `~/.catmem`."""
    return os.path.expanduser(os.environ.get("CATMEM_DIR") or os.path.join("~", ".catmem"))


def state_of(status: os.stat_result) -> tuple[int, int, int]:
    """What tells a file from what it was before, and from another in its place."""
    return status.st_ino, status.st_size, status.st_mtime_ns


class Places:
    """Where everything lies; nothing is created by asking."""

    __slots__ = (
        "changes",
        "config",
        "database",
        "embedder",
        "hook_failures",
        "index",
        "key",
        "ledger",
        "locks",
        "memory_page",
        "messages",
        "model_trouble",
        "models",
        "projects",
        "quarantine",
        "registry",
        "root",
        "run",
        "search",
        "snapshot",
        "spending",
        "told",
        "wanted",
        "work_lock",
    )

    def __init__(self, root: str) -> None:
        join = os.path.join
        self.root = root
        self.config = join(root, "config.yaml")
        self.messages = join(root, "messages")
        self.ledger = join(root, "ledger")
        self.database = join(root, "memories.db")
        self.search = join(root, "search")
        self.index = join(root, "index.json")
        # The profile as people read it; a project's is under `projects`.
        self.memory_page = join(root, "memory", "MEMORY.md")
        self.projects = join(root, "projects")
        self.quarantine = join(root, "quarantine")
        # The key of the keyed hash that stands for a redacted secret.
        self.key = join(root, "secrets.key")
        # What this machine needs while it runs: locks, the settings' snapshot, what sessions were told, failures, backups.
        self.run = join(root, "run")
        self.locks = join(self.run, "locks")
        self.work_lock = join(self.locks, "work.lock")
        # What a worker is wanted for and has not begun: a file a session, and one for all that has ended.
        self.wanted = join(self.run, "wanted")
        self.snapshot = join(self.run, "settings.json")
        # What the ledger says of projects, as far as a hook needs it.
        self.registry = join(self.run, "projects.json")
        self.told = join(self.run, "told")
        # When a session in use was last given to a worker because files were changed: an empty file a session.
        self.changes = join(self.run, "changes")
        # Which models rest after a failure; what models have cost.
        self.models = join(self.run, "models.json")
        self.spending = join(self.run, "spending.json")
        # That the file of the embedder was found to be the right one.
        self.embedder = join(self.run, "embedder.json")
        self.hook_failures = join(self.run, "hook-failures.jsonl")
        # Why the model does not answer: a file of its own, since a hook tells the user of it.
        self.model_trouble = join(self.run, "model-trouble.json")
