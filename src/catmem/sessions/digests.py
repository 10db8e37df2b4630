"""projects/<project>/memory/history.jsonl: one digest a line, of a part of a session that went to the archive.

{"cursor","at","session","first_id","last_id","content"}. `cursor` rises for ever, so who reads on from one misses
nothing: a digest that is taken back leaves its line, with an empty content.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from catmem.domain.session import SessionRef
from catmem.sessions.durable import append_line
from catmem.sessions.locks import session_lock
from catmem.sessions.names import file_name
from catmem.sessions.records import dump, read_json
from catmem.sessions.refusals import read_failed, storage_failed
from catmem.sessions.rewrite import replace_file
from catmem.sessions.upkeep import pattern_of
from catmem.settings.paths import Paths

_LARGEST_CURSOR = 2**53
# As every line of ours begins, whatever became of the rest of it.
_CURSOR = re.compile(rb'\{"cursor":\s*([0-9]{1,15})\b')


def read_digests(paths: Paths, project: str) -> list[dict[str, Any]]:
    """The digests of a project, oldest first; a line that is none is left out, and stays. Raises StorageFailed."""
    return [digest for line in _lines(_file(paths, project)) if (digest := _digest(line))]


def has_digest(paths: Paths, ref: SessionRef, first_id: int, last_id: int) -> bool:
    """Whether the digest of a part is there already. Raises StorageFailed."""
    return any(_is_of(digest, ref, first_id, last_id) for digest in read_digests(paths, ref.project))


def add_digest(paths: Paths, ref: SessionRef, first_id: int, last_id: int, content: str, at: str) -> int:
    """Adds the digest of a part, once however often it is asked. Returns its cursor. Raises LockBusy, StorageFailed."""
    file = _file(paths, ref.project)
    with session_lock(_lock(paths, ref.project)):
        lines = _lines(file)
        for digest in filter(None, map(_digest, lines)):
            if _is_of(digest, ref, first_id, last_id):
                return int(digest["cursor"])
        cursor = max(map(_cursor, lines), default=0) + 1
        record = {
            "cursor": cursor,
            "at": at,
            "session": ref.key,
            "first_id": first_id,
            "last_id": last_id,
            "content": content,
        }
        _append(file, dump(record).encode() + b"\n")
    return cursor


def take_back(paths: Paths, project: str, changed: Callable[[dict[str, Any]], str]) -> int:
    """Gives each digest the content that `changed` returns for it. Returns how many are different now."""
    file, count = _file(paths, project), 0
    if not file.exists():
        return 0
    with session_lock(_lock(paths, project)):
        lines = _lines(file)
        for number, line in enumerate(lines):
            digest = _digest(line)
            if digest and (content := changed(digest)) != digest["content"]:
                lines[number] = dump({**digest, "content": content}).encode() + b"\n"
                count += 1
        if count:
            try:
                replace_file(str(file), lines)
            except OSError as error:
                raise storage_failed(str(file), error) from error
    return count


def forget(paths: Paths, project: str, phrases: Iterable[str]) -> int:
    """Takes sentences out of a project's digests. Returns how many had one."""
    patterns = [pattern for phrase in phrases if (pattern := pattern_of(phrase))]

    def without(digest: dict[str, Any]) -> str:
        content = str(digest["content"])
        for pattern in patterns:
            content = pattern.sub("", content)
        return content

    return take_back(paths, project, without)


def _is_of(digest: dict[str, Any], ref: SessionRef, first_id: int, last_id: int) -> bool:
    return (digest["session"], digest["first_id"], digest["last_id"]) == (ref.key, first_id, last_id)


def _file(paths: Paths, project: str) -> Path:
    return paths.projects / file_name(project) / "memory" / "history.jsonl"


def _lock(paths: Paths, project: str) -> str:
    return str(paths.locks / f"{file_name(project)}.history.lock")


def _lines(file: Path) -> list[bytes]:
    try:
        # On newlines only, as everywhere: a text may hold what other readers take for the end of a line.
        return [line + b"\n" for line in file.read_bytes().split(b"\n") if line]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise read_failed(str(file), error) from error


def _digest(line: bytes) -> dict[str, Any] | None:
    """The digest of a line; None for one that a hand, or a damage, made unusable."""
    record = read_json(line)
    if not isinstance(record, dict) or not isinstance(record.get("content"), str):
        return None
    numbers = [record.get(name) for name in ("cursor", "first_id", "last_id")]
    if not all(type(number) is int and 0 < number < _LARGEST_CURSOR for number in numbers):
        return None
    return record if isinstance(record.get("session"), str) else None


def _cursor(line: bytes) -> int:
    """The cursor of a line, also of a damaged one: it is not given again. 0 where there is none."""
    found = _CURSOR.match(line)
    return min(int(found[1]), _LARGEST_CURSOR - 1) if found else 0


def _append(file: Path, line: bytes) -> None:
    try:
        append_line(str(file), line)
    except OSError as error:
        raise storage_failed(str(file), error) from error
