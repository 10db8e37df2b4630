"""Forks: a session that begins with another's lines, written again with the times of the fork.

A turn keeps its id. The fork's own part begins with the first turn that the parent does not have; lines without a turn
in front of it are the parent's if they say the same. Without the parent's file nothing can be told, and all is kept.
"""

from __future__ import annotations

import hashlib
import json
import re
from glob import escape
from pathlib import Path

from catmem.clients.codex import wire
from catmem.clients.codex.wire import Record
from catmem.clients.compressed import SUFFIX, opened
from catmem.clients.lines import read_lines, records_of

_TURN = re.compile(rb'"turn_id":\s*"([^"\\]+)"')
_FOLDERS = ("sessions", "archived_sessions")


class Replay:
    """Which lines of a fork are its parent's."""

    def __init__(self, digests: set[bytes], known_to: int, own_from: int) -> None:
        """Up to line `known_to` all is the parent's, from `own_from` on nothing (0: no line tells)."""
        self._digests = digests
        self._known_to = known_to
        self._own_from = own_from
        self._over = False

    def holds(self, line: int, kind: str, payload: Record) -> bool:
        if line <= self._known_to:
            return True
        if self._over or (self._own_from and line >= self._own_from):
            return False
        same = _digest(payload) in self._digests
        self._over = not same and kind in ("response_item", "event_msg")
        return same


def replay_in(path: Path, parent: str) -> Replay | None:
    """What a fork repeats of its parent; None if the parent's file is not there. Raises OSError."""
    source = _file_of(path, parent)
    if source is None:
        return None
    turns: set[bytes] = set()
    digests: set[bytes] = set()
    with opened(source) as file:
        for line in read_lines(file):
            turns.update(_TURN.findall(line.raw or b""))
            digests.update(_digest(wire.opened(record)[1]) for record in records_of(line.raw or b"")[0])
    known_to = 0
    with opened(path) as file:
        for line in read_lines(file):
            named = set(_TURN.findall(line.raw or b""))
            if named - turns:
                return Replay(digests, known_to, line.number)
            known_to = line.number if named else known_to
    return Replay(digests, known_to, 0)


def codex_home(path: Path) -> Path | None:
    """The folder above the sessions in which a rollout lies."""
    return next((folder.parent for folder in path.absolute().parents if folder.name in _FOLDERS), None)


def _file_of(path: Path, session: str) -> Path | None:
    """The rollout of a session: a plain file wins over its compressed twin."""
    name = f"*{escape(session)}.jsonl"
    home = codex_home(path)
    found: list[Path] = []
    for folder in [home / part for part in _FOLDERS] if home else [path.parent]:
        pattern = f"**/{name}" if home else name
        found += [one for ending in ("", SUFFIX) for one in sorted(folder.glob(pattern + ending)) if one != path]
    return min(found, key=lambda one: one.suffix == SUFFIX, default=None)


def _digest(payload: Record) -> bytes:
    spelled = json.dumps(payload, sort_keys=True).encode("utf-8", "replace")
    return hashlib.blake2b(spelled, digest_size=12).digest()
