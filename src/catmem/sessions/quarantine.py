"""Bytes that could not be read: kept once, with where they stood and why. Loaded only when there is damage.

One JSON line a piece: {"offset","length","reason","hash","text" or "base64"}; `text` where the bytes are UTF-8.
"""
# No pathlib: loaded by the hot path when a session is damaged

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from hashlib import blake2b

from catmem.sessions.durable import append_line
from catmem.sessions.records import dump, read_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


def keep(path: str, pieces: Iterable[tuple[int, bytes, str]]) -> None:
    """Adds `(offset, bytes, reason)` pieces that are not there yet, and syncs. Call it under the session's lock.

    Raises OSError: who is about to overwrite the bytes must not go on then.
    """
    known = {(entry.get("offset"), entry.get("hash")) for entry in entries(path)}
    lines = []
    for offset, raw, reason in pieces:
        digest = blake2b(raw, digest_size=8).hexdigest()
        if (offset, digest) in known:
            continue
        known.add((offset, digest))
        lines.append(dump({"offset": offset, "length": len(raw), "reason": reason, "hash": digest, **_body(raw)}))
    if lines:
        append_line(path, "".join(line + "\n" for line in lines).encode())


def entries(path: str) -> list[dict[str, Any]]:
    """What is kept in a quarantine file, oldest first; [] if there is none."""
    try:
        with open(path, "rb") as file:
            found = [read_json(line) for line in file]
    except FileNotFoundError:
        return []
    return [entry for entry in found if isinstance(entry, dict)]


def bytes_of(entry: dict[str, Any]) -> bytes:
    """The bytes of an entry, as they stood in the file."""
    return b64decode(entry["base64"]) if "base64" in entry else str(entry.get("text", "")).encode()


def drop(path: str, unwanted: Callable[[bytes], bool]) -> int:
    """Forgets the pieces that `unwanted` is true of. Returns how many."""
    kept = entries(path)
    left = [entry for entry in kept if not unwanted(bytes_of(entry))]
    if len(left) == len(kept):
        return 0
    if left:
        from catmem.sessions.rewrite import replace_file

        replace_file(path, ["".join(dump(entry) + "\n" for entry in left).encode()])
    else:
        os.unlink(path)
    return len(kept) - len(left)


def _body(raw: bytes) -> dict[str, str]:
    try:
        return {"text": raw.decode()}
    except UnicodeDecodeError:
        return {"base64": b64encode(raw).decode()}
