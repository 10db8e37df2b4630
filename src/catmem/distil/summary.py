"""A part of a session in a few words, without a model: what the digest says, as one text."""

from __future__ import annotations

from collections.abc import Sequence

from catmem.distil.distiller import propose, read
from catmem.domain.message import Message, is_said
from catmem.domain.session import SessionRef

# Reading costs 2 ms a message, and a digest of 300 characters has room for how a talk began and how it ended. What was
# settled between is in the ledger already: distilling reads every message.
_BEGINNING, _END = 200, 800


def summary_of(session: SessionRef, messages: Sequence[Message]) -> str:
    """At most a few hundred characters, in the user's own words; "" where the user said nothing worth keeping."""
    said = [message for message in messages if is_said(message)]
    if len(said) > _BEGINNING + _END:
        said = [*said[:_BEGINNING], *said[-_END:]]
    digest = propose(session, read(said), 1, ()).digest
    pieces = [digest["text"], *(p for p in digest["progress"] if p not in digest["text"])]
    topics = " ".join(f"#{topic}" for topic in digest["topics"])
    return "\n".join(piece for piece in (*pieces, topics) if piece)
