"""What was finally said in a session, message by message: as `live_messages` tells it, in bounded memory."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from catmem.domain.hashing import digest
from catmem.domain.living import living
from catmem.domain.message import Message
from catmem.sessions.blocks import BLOCK
from catmem.sessions.names import Place
from catmem.sessions.reading import message_of
from catmem.sessions.records import is_message
from catmem.sessions.walking import walk

_SAID = frozenset({"user", "assistant"})
# A file that is read in one block: parsing it is nearly all of the work, and what that gives takes some 10 MB.
_SHORT = BLOCK


def talk(place: Place) -> Iterator[Message]:
    """The session's own messages on the branch that the user is on, in the order of the files.

    A long file is read twice: once for who answers whom, 17 bytes a message, then for the words. A result that nobody
    gave stands where it was written, and one without a call is there too. Raises NotFound, StorageFailed.
    """
    outline = _Outline()
    kept: list[dict[str, Any]] | None = [] if _is_short(place) else None
    for record in walk(place):
        outline.add(record)
        if kept is not None and is_message(record):
            kept.append(record)
    # What was written since the first reading is left for the next time.
    said = filter(is_message, walk(place)) if kept is None else iter(kept)
    for record, lives in zip(said, outline.alive(), strict=False):
        if lives:
            yield outline.under_own_name(message_of(record))


def _is_short(place: Place) -> bool:
    """True if all of the session may be kept at once; an archive does not tell how much is packed in it."""
    try:
        return os.path.getsize(place.file) <= _SHORT and not os.path.exists(place.archive)
    except OSError:
        return False


class _Outline:
    """The names of the messages of a session as hashes, and what its marks say of them."""

    def __init__(self) -> None:
        self._inherited: set[int] = set()
        self._own_names: dict[str, tuple[str, str]] = {}  # the uid in the file -> uid and parent of the transcript
        self._leaf = 0
        self._uids, self._parents, self._said = array("Q"), array("Q"), bytearray()

    def add(self, record: Mapping[str, Any]) -> None:
        if is_message(record):
            self._uids.append(_number(record.get("uid")))
            self._parents.append(_number(record.get("parent")))
            self._said.append(record["role"] in _SAID)
        elif record["mark"] == "inherited":
            self._inherited.update(_number(uid) for uid in record.get("uids", ()))
        elif record["mark"] == "known_as":
            self._own_names[str(record.get("uid"))] = (
                str(record.get("as", record.get("uid"))),
                str(record.get("parent", "")),
            )
        elif record["mark"] == "leaf":
            self._leaf = _number(record.get("uid"))

    def under_own_name(self, message: Message) -> Message:
        names = self._own_names.get(message.uid)
        return replace(message, uid=names[0], parent=names[1]) if names else message

    def alive(self) -> bytearray:
        """For each message of the session 1 if it is one of its own that was finally said, else 0."""
        own = bytearray(not (uid and uid in self._inherited) for uid in self._uids)
        places = array("L", (place for place, is_own in enumerate(own) if is_own))
        names = {_number(uid): tuple(map(_number, own_names)) for uid, own_names in self._own_names.items()}
        uids = array("Q", (names[u][0] if (u := self._uids[place]) in names else u for place in places))
        parents = array(
            "Q", (names[u][1] if (u := self._uids[place]) in names else self._parents[place] for place in places)
        )
        found = self._living(uids, parents, bytearray(self._said[place] for place in places))
        for place, lives in zip(places, found, strict=True):
            own[place] = lives
        return own

    def _living(self, uids: array[int], parents: array[int], said: bytearray) -> bytearray:
        """The same with numbers that count up, so that what is known of each fits into a list of bytes."""
        order = array("L", sorted(range(len(uids)), key=uids.__getitem__))
        ranked = array("Q", (uids[place] for place in order))
        strangers: dict[int, int] = {}  # names that no message here has

        def numbered(name: int) -> int:
            if not name:
                return 0
            # The last of those that share a name, as in a dictionary.
            rank = bisect_right(ranked, name) - 1
            if rank >= 0 and ranked[rank] == name:
                return order[rank] + 1
            return strangers.setdefault(name, len(uids) + 1 + len(strangers))

        answered = array("L", map(numbered, parents))
        named = array("L", map(numbered, uids))
        return living(named, answered, said, numbered(self._leaf), lambda n: n - 1 if 0 < n <= len(uids) else -1)


def _number(name: object) -> int:
    """Eight bytes of hash for a name, 0 for none. Two names of a million meet once in 10^7 sessions."""
    return int.from_bytes(digest(name, 8), "big") if isinstance(name, str) and name else 0
