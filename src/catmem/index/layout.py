"""Where the index lies and what its fields are called: what reader and writer must agree on (hot path)."""
# ruff: noqa: PTH (pathlib would cost the hook 4 ms)

from __future__ import annotations

import os

# Counts up whenever fields, records or the tokens of catmem.text change: an index of another number is made anew.
FORMAT = 8

MEMORIES = "memories"
PASSAGES = "passages"
OUTPUTS = "outputs"
PARTS = (MEMORIES, PASSAGES, OUTPUTS)
"""An index each: BM25 weighs a word by its rarity and a text by its length. Memories are short, passages long, and what
tools were given and gave back (outputs) is neither said nor written by anybody, so recall never asks for it."""

ID = "id"
SESSION = "session"
HOME = "home"
PROFILE = ""
"""The project of a document, and that of what holds in every project."""
KIND = "kind"
"""The kind of a memory; the role of a passage."""
AT = "at"
"""Every instant at which it was said, in milliseconds since the epoch."""
NEWEST = "newest"
"""The last of those instants, to sort by."""
STANDING = "standing"
"""`live`, `superseded`, and `pinned` beside them."""
BODY = "body"
"""The tokens of a text, but of a passage those that are in `ONCE`."""
ONCE = "once"
"""The pairs of characters that a passage has once, by far most: that they need no count is half of what they take."""
PAST = "past"
"""The tokens of superseded memories: a field of their own, so that they are met only by who asks for them."""
KEY = "key"
"""A number that names what a document is and says, as documents.key_of makes it: another text, another key."""
SHELF = "shelf"
"""The end of the key, which some documents share, to look them up by: terms of whole keys take twenty bytes each."""
RECORD = "record"
"""The stored JSON: all that a result shows."""


def shelf_of(key: int) -> int:
    return key & 0xFFFF


def index_folder(search: str) -> str:
    """The folder of the present format within `search/`."""
    return os.path.join(search, f"v{FORMAT}")


def part_folder(search: str, part: str) -> str:
    return os.path.join(index_folder(search), part)
