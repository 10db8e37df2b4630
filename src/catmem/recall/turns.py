"""Where a passage stands in its talk: the turn, what was asked in it and what was answered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence, Set
from typing import TypedDict

from catmem.domain.errors import CatmemError
from catmem.domain.message import Message, is_said
from catmem.domain.session import SessionRef
from catmem.index.documents import Record, without_forgotten
from catmem.text.cut import ELLIPSIS, cut_bytes

# Bytes of what stands around a passage; the talk itself is read on with `mem sessions show`.
_LONGEST = 300
# Sessions whose turns a process keeps, since it is asked about the same ones again: reading one of a thousand messages
# takes as long as finding in a million. Of a longer one than so many characters nothing is kept.
_MOST_KEPT = 4
_MOST_CHARACTERS = 1_000_000


class Turn(TypedDict):
    """The numbers of its first and last message; how it was `asked`, and the first words of the answer, or ""."""

    first: int
    last: int
    asked: str
    answered: str


class Talks:
    """The kept conversations, as far as they tell of the turns of passages.

    `talk` reads a session; `hidden` gives the hashes of forgotten sentences, which are shown nowhere. `state` tells one
    state of a session's files from the next; without it every question reads anew.
    """

    def __init__(
        self,
        talk: Callable[[SessionRef], Iterable[Message]],
        hidden: Callable[[], Set[str]],
        state: Callable[[SessionRef], object] | None = None,
    ) -> None:
        self._talk, self._hidden, self._state = talk, hidden, state
        self._kept: dict[SessionRef, tuple[object, dict[int, Turn] | None]] = {}

    def by_turn(self, hits: Iterable[Record], limit: int) -> list[Record]:
        """The first `limit` hits, each passage with its `turn`; of several in one turn the first one.

        `same_turn` are the numbers of the other messages of the turn that were found. No more sessions are read than
        results are kept.
        """
        hits = list(hits)
        found = _ids_by_session(hits)
        hidden = self._hidden() if found else frozenset[str]()
        turns: dict[SessionRef, dict[int, Turn]] = {}
        kept: dict[tuple[SessionRef, int] | int, Record] = {}
        for number, hit in enumerate(hits):
            ref = SessionRef(hit["project"], hit["session"])
            if ref in found and ref not in turns and len(kept) < limit:
                turns[ref] = self._turns(ref, found[ref], hidden)
            turn = turns.get(ref, {}).get(hit["message_id"]) if _is_passage(hit) else None
            key = (ref, turn["first"]) if turn else number
            if key in kept:
                _add(kept[key], hit["message_id"])
            elif len(kept) < limit:
                kept[key] = {**hit, "turn": turn, "same_turn": []} if turn else hit
        return list(kept.values())

    def _turns(self, ref: SessionRef, ids: Collection[int], hidden: Set[str]) -> dict[int, Turn]:
        try:
            turns = self._every_turn(ref) or turns_of(self._talk(ref), ids)
        except CatmemError:  # a session that cannot be read now; its passages were found all the same
            return {}
        return {id: _presentable(turns[id], hidden) for id in ids if id in turns}

    def _every_turn(self, ref: SessionRef) -> dict[int, Turn] | None:
        """The turn of each message of a session, as long as it is the same; None if they are too much to keep."""
        if self._state is None:
            return None
        state = self._state(ref)
        known = self._kept.pop(ref, None)
        if known is None or known[0] != state:
            known = state, _kept_turns(self._talk(ref))
        self._kept[ref] = known
        while len(self._kept) > _MOST_KEPT:
            del self._kept[next(iter(self._kept))]
        return known[1]


def _presentable(turn: Turn, hidden: Set[str]) -> Turn:
    asked, answered = (_shortened(without_forgotten(said, hidden)) for said in (turn["asked"], turn["answered"]))
    return {**turn, "asked": asked, "answered": answered}


def _ids_by_session(hits: Iterable[Record]) -> dict[SessionRef, set[int]]:
    found: dict[SessionRef, set[int]] = {}
    for hit in filter(_is_passage, hits):
        found.setdefault(SessionRef(hit["project"], hit["session"]), set()).add(hit["message_id"])
    return found


def _is_passage(hit: Record) -> bool:
    """True for what was said, and for what a tool was given or gave back."""
    return bool(hit["type"] != "memory")


def _add(kept: Record, id: int) -> None:
    """A long message is found in several pieces, which are one message."""
    if id != kept["message_id"] and id not in kept["same_turn"]:
        kept["same_turn"].append(id)


def turns_of(messages: Iterable[Message], ids: Collection[int]) -> dict[int, Turn]:
    """The turn of each of these messages, read in bounded memory."""
    found: dict[int, Turn] = {}
    for turn, members in _turns_in(messages):
        found.update((id, turn) for id in members if id in ids)
        if len(found) == len(ids):
            break
    return found


def _kept_turns(messages: Iterable[Message]) -> dict[int, Turn] | None:
    found: dict[int, Turn] = {}
    characters = 0
    for turn, members in _turns_in(messages):
        characters += len(turn["asked"]) + len(turn["answered"])
        if characters > _MOST_CHARACTERS:
            return None
        found.update(dict.fromkeys(members, turn))
    return found


def turns_around(messages: Sequence[Message], id: int) -> list[Message]:
    """The messages of the turn of a message, and of the turns before and after it; [] if there is no such message."""
    turns = [turn for turn, _ in _turns_in(messages)]
    place = next((n for n, turn in enumerate(turns) if turn["first"] <= id <= turn["last"]), None)
    if place is None or all(message.id != id for message in messages):
        return []
    first, last = turns[max(place - 1, 0)]["first"], turns[min(place + 1, len(turns) - 1)]["last"]
    return [message for message in messages if first <= message.id <= last]


def _turns_in(messages: Iterable[Message]) -> Iterator[tuple[Turn, list[int]]]:
    turn: Turn | None = None
    members: list[int] = []
    for message in messages:
        asks = message.role == "user" and is_said(message)
        if turn is None or asks:
            if turn is not None:
                yield turn, members
            turn, members = (
                Turn(first=message.id, last=message.id, asked=message.content if asks else "", answered=""),
                [],
            )
        members.append(message.id)
        turn["last"] = max(turn["last"], message.id)
        if message.role == "assistant" and is_said(message):
            turn["answered"] = turn["answered"] or message.content
    if turn is not None:
        yield turn, members


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    cut = cut_bytes(flat, _LONGEST)
    return flat if cut == flat else cut.rstrip() + ELLIPSIS
