"""A part of a session in a few words, without a model: what the digest says, as one text."""

from __future__ import annotations

from collections.abc import Sequence

from catmem.distil.distiller import propose
from catmem.domain.message import Message
from catmem.domain.session import SessionRef


def summary_of(session: SessionRef, messages: Sequence[Message]) -> str:
    """At most a few hundred characters, in the user's own words; "" where the user said nothing worth keeping."""
    digest = propose(session, messages, 1, ()).digest
    pieces = [digest["text"], *(p for p in digest["progress"] if p not in digest["text"])]
    topics = " ".join(f"#{topic}" for topic in digest["topics"])
    return "\n".join(piece for piece in (*pieces, topics) if piece)
