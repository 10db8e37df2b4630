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


class Turn(TypedDict):
    """The numbers of its first and last message; how it was `asked`, and the first words of the answer, or ""."""

    first: int
    last: int
    asked: str
    answered: str


class Talks:
    """The kept conversations, as far as they tell of the turns of passages.

    `talk` reads a session; `hidden` gives the hashes of forgotten sentences, which are shown nowhere.
    """

    def __init__(self, talk: Callable[[SessionRef], Iterable[Message]], hidden: Callable[[], Set[str]]) -> None:
        self._talk, self._hidden = talk, hidden

    def by_turn(self, hits: Iterable[Record], limit: int) -> list[Record]:
        """The first `limit` hits, each passage with its `turn`; of several in one turn the first; `same_turn` counts the others."""
        hits = list(hits)
        turns = self._turns(hits)
        kept: dict[tuple[str, str, int] | int, Record] = {}
        for number, hit in enumerate(hits):
            turn = turns.get(_place(hit)) if hit["type"] == "passage" else None
            key = (hit["project"], hit["session"], turn["first"]) if turn else number
            if key in kept:
                kept[key]["same_turn"] = kept[key].get("same_turn", 0) + 1
            elif len(kept) < limit:
                kept[key] = {**hit, "turn": turn} if turn else hit
        return list(kept.values())

    def _turns(self, hits: Iterable[Record]) -> dict[tuple[str, str, int], Turn]:
        wanted: dict[SessionRef, set[int]] = {}
        for hit in hits:
            if hit["type"] == "passage":
                wanted.setdefault(SessionRef(hit["project"], hit["session"]), set()).add(hit["message_id"])
        found: dict[tuple[str, str, int], Turn] = {}
        hidden = self._hidden() if wanted else frozenset[str]()
        for ref, ids in wanted.items():
            try:
                turns = turns_of(self._talk(ref), ids)
            except CatmemError:  # a session that cannot be read now; its passage was found all the same
                continue
            for id, turn in turns.items():
                shown = {name: _shortened(without_forgotten(turn[name], hidden)) for name in ("asked", "answered")}
                found[ref.project, ref.key, id] = {**turn, **shown}  # type: ignore[typeddict-item]
        return found


def turns_of(messages: Iterable[Message], ids: Collection[int]) -> dict[int, Turn]:
    """The turn of each of these messages, read in bounded memory."""
    found: dict[int, Turn] = {}
    for turn, members in _turns_in(messages):
        found.update((id, turn) for id in members if id in ids)
        if len(found) == len(ids):
            break
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


def _place(hit: Record) -> tuple[str, str, int]:
    return hit["project"], hit["session"], hit["message_id"]


def _shortened(text: str) -> str:
    flat = " ".join(text.split())
    cut = cut_bytes(flat, _LONGEST)
    return flat if cut == flat else cut.rstrip() + ELLIPSIS
