"""Where the index lies and what its fields are called: what reader and writer must agree on (hot path)."""
# ruff: noqa: PTH (pathlib would cost the hook 4 ms)

from __future__ import annotations

import os

# Counts up whenever fields, records or the tokens of catmem.text change: an index of another number is made anew.
FORMAT = 6

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
PAST = "past"
"""The tokens of superseded memories: a field of their own, so that they are met only by who asks for them."""
KEY = "key"
"""A number that names what a document is and says, as documents.key_of makes it: another text, another key."""
RECORD = "record"
"""The stored JSON: all that a result shows."""


def index_folder(search: str) -> str:
    """The folder of the present format within `search/`."""
    return os.path.join(search, f"v{FORMAT}")


def part_folder(search: str, part: str) -> str:
    return os.path.join(index_folder(search), part)
