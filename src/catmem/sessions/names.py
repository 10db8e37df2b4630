"""Where the files of a session lie: any key becomes one safe file name, and no two keys the same (hot path)."""
# No pathlib here: it would cost the hook 4 ms.

from __future__ import annotations

import os

from catmem.domain.errors import BadInput
from catmem.domain.hashing import short_hash

# Of the slug alone: with the hash, the ending and `.lock` it stays far below the 255 bytes of a file name, and below
# the 260 characters of a Windows path in a usual home.
_SAFE_LENGTH = 80
_SLUG_LENGTH = 60
_SLUG = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_FIRST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")

# Windows opens the device for these, whatever ending follows.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(1, 10)), *(f"lpt{n}" for n in range(1, 10))]
)

ENDING = ".jsonl"
ARCHIVE, COMPRESSED = "archive", ".zst"

# Line 1 has room for it, escaped; no assistant's key is longer than a hundred.
LONGEST_KEY = 10_000


class Place:
    """The files of one session: its data, its older part compressed, its lock, and where damaged bytes are kept."""

    __slots__ = ("archive", "file", "lock", "quarantine")

    def __init__(self, file: str, archive: str, lock: str, quarantine: str) -> None:
        self.file = file
        self.archive = archive
        self.lock = lock
        self.quarantine = quarantine


def place(root: str, project: str, key: str) -> Place:
    """The place of a session in the data directory `root` (see settings/paths, which a test holds to this)."""
    return place_of_file(root, file_name(project), file_name(key) + ENDING)


def place_of_file(root: str, folder: str, file: str) -> Place:
    """The place of the session whose file is `messages/<folder>/<file>`."""
    stem = file.removesuffix(ENDING)
    return Place(
        os.path.join(root, "messages", folder, file),
        os.path.join(root, "messages", folder, ARCHIVE, stem + ENDING + COMPRESSED),
        os.path.join(root, "run", "locks", folder, stem + ".lock"),
        os.path.join(root, "quarantine", folder, stem + ENDING),
    )


def file_name(key: str) -> str:
    """The name, without ending, of the file or folder of a key.

    A key that is a safe lower-case slug is its own name. Any other gets a readable slug, `~`, and 12 hex digits of
    its BLAKE2b: `~` stands in no slug, so the two kinds never meet, and keys that differ by case only differ in the
    digits, which holds on case-insensitive disks too.
    """
    if _is_safe(key):
        return key
    digest = short_hash(key, 6)
    return f"{_slug(key)}~{digest}"


def safe_key(key: str) -> str:
    r"""The key as it can be stored: a lone surrogate or NUL becomes its escape, `\udc80`.

    Replacing them, as in a message's text, would let two keys become one. Raises BadInput if it is too long.
    """
    if len(key) > LONGEST_KEY:
        raise BadInput(
            f"a session key of {len(key):,} characters; at most {LONGEST_KEY:,} are allowed",
            f"会话键长达 {len(key):,} 个字符；最多允许 {LONGEST_KEY:,} 个",
        )
    if "\x00" in key:
        key = key.replace("\x00", "\\x00")
    try:
        key.encode("utf-8")
    except UnicodeEncodeError:
        return key.encode("utf-8", "backslashreplace").decode("utf-8")
    return key


def _is_safe(key: str) -> bool:
    return (
        0 < len(key) <= _SAFE_LENGTH
        and key[0] in _FIRST
        and key[-1] != "."  # Windows drops a final dot
        and _SLUG.issuperset(key)
        and key.partition(".")[0] not in _DEVICES
    )


def _slug(key: str) -> str:
    head = key[: _SLUG_LENGTH * 2].lower()
    spaced = "".join(c if c in _SLUG else " " for c in head)
    slug = "-".join(spaced.split()).lstrip("._-")[:_SLUG_LENGTH].rstrip("._-")
    return slug if slug and slug.partition(".")[0] not in _DEVICES else "session"
