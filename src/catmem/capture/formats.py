"""Which files under a path are histories, and of which client: told from what is in them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from catmem.clients import reasons
from catmem.clients.catalogue import CLIENTS
from catmem.clients.lines import read_lines, records_of
from catmem.clients.port import KnowsFiles
from catmem.clients.readers import reader_of
from catmem.clients.reasons import Reason
from catmem.domain.errors import StorageFailed
from catmem.text.encoding import sniff

EXPORT = "catmem-export"
FORMATS = (*CLIENTS, EXPORT)
EXPORT_FORMAT = "catmem-export/1"

# Read to tell what a file is: its first lines, or the head of an export.
_HEAD_BYTES = 1 << 18
_HEAD_LINES = 20
_NOT_SESSIONS = ("subagents", "tool-results", "memory", "node_modules", ".git")
_NO_SESSION_NAMES = ("agent-", "msg_", "prt_")
# What else assistants keep as JSON lines: each prompt again, the log of a workflow, the names of sessions.
_LOGS = ("history.jsonl", "journal.jsonl", "session_index.jsonl")


def files_of(paths: Sequence[Path], source: str = "auto") -> Iterator[tuple[Path, bool]]:
    """The files to look at, and whether each was found by walking a folder; folders in the order of their names."""
    rows = [CLIENTS[source]] if source in CLIENTS else list(CLIENTS.values())
    suffixes = {suffix for row in rows for suffix in row["suffixes"]}
    if source in ("auto", EXPORT):
        suffixes.add(".json")
    endings = tuple(suffix for suffix in suffixes if not suffix.endswith("."))
    within = tuple(suffix for suffix in suffixes if suffix.endswith("."))
    for path in paths:
        if not path.is_dir():
            yield path, False
            continue
        for found in sorted(path.rglob("*")):
            wanted = found.name.endswith(endings) or any(part in found.name for part in within)
            if wanted and found.is_file() and not _is_beside(found.relative_to(path)):
                yield found, True


def format_of(path: Path) -> str:
    """The name of the format of a file, "" if it is none that we know. Raises StorageFailed if it cannot be read."""
    head = _head(path, _HEAD_BYTES)
    claimed = next((name for name in CLIENTS if _knows(name, path, head)), "")
    if claimed:
        return claimed
    with path.open("rb") as file:
        for line in read_lines(file):
            records = records_of(line.raw)[0] if line.raw else []
            if line.number == 1 and _is_export(head, records):
                return EXPORT
            found = next((name for name in CLIENTS if reader_of(name).recognises(records)), "")
            if found or line.number >= _HEAD_LINES:
                return found
    return ""


def _knows(client: str, path: Path, head: bytes) -> bool:
    reader = reader_of(client)
    return isinstance(reader, KnowsFiles) and reader.knows(path, head)


def is_claimed(client: str, path: Path) -> bool:
    """False for a file beside a client's sessions; a reader of lines takes what it finds."""
    return not isinstance(reader_of(client), KnowsFiles) or _knows(client, path, _head(path, _HEAD_BYTES))


def is_expected(path: Path) -> bool:
    """True for a file that is surely meant to be a history, so that not to know it is worth a word."""
    return path.suffix == ".jsonl" and path.name not in _LOGS and bool(_head(path, 4096).strip())


def _is_export(head: bytes, records: Sequence[object]) -> bool:
    first = records[0] if records else None
    if isinstance(first, dict):
        return first.get("format") == EXPORT_FORMAT
    # An indented export is no JSON line by line.
    return json.dumps(EXPORT_FORMAT).encode() in head[:4096] and head.lstrip(b"\xef\xbb\xbf \r\n\t").startswith(b"{")


def _is_beside(inside: Path) -> bool:
    """True for files that a tool keeps beside its sessions: a subagent's record, a tool's output, a part of a message."""
    return inside.name.startswith(_NO_SESSION_NAMES) or any(part in _NOT_SESSIONS for part in inside.parts[:-1])


def unknown(path: Path) -> Reason:
    """Why a file is of no format that we know."""
    encoding = sniff(_head(path, 512))
    if encoding:
        return reasons.other_encoding(encoding)
    with path.open("rb") as file:
        first = next((line for line in read_lines(file) if line.raw is None or line.raw.strip()), None)
    detail = records_of(first.raw)[1] if first and first.raw else ""
    return reasons.no_first_line(first.number, detail) if first and detail else reasons.UNKNOWN_FORMAT


def _head(path: Path, size: int) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise StorageFailed(
            f"{path}: cannot be read ({error.strerror or error}). Check the file and its permissions.",
            f"{path}：无法读取（{error.strerror or error}）。请检查文件及其权限。",
        ) from error


def is_readable(path: Path) -> bool:
    """True if a file can be opened."""
    try:
        _head(path, 1)
    except StorageFailed:
        return False
    return True
