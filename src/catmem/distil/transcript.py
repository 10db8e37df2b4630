"""A session as sentences: who says what, in which surroundings, and which rules and scores speak of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from catmem.distil.classifier import Label
from catmem.distil.features import Context
from catmem.distil.rulebook import Rulebook, phrase
from catmem.distil.slots import fillings
from catmem.distil.units import Unit, units_of
from catmem.domain.message import Message, is_said

# Effects that no rule about the sentence alone can see: the assistant had asked what it is that the user has; the sentence
# names a slot and what fills it, and is no report of how that fares.
ANSWER = "answer"
# Nobody types so many sentences into one message: what stands between is pasted, and at a millisecond a sentence a
# megabyte of it would take the worker's minute. People write before what they paste, and after it.
MOST_AT_AN_END = 500
FILLED = "filled"


class Scorer(Protocol):
    """What the classifier is to its users: probabilities by label, which sum to 1."""

    def scores(self, unit: Unit, context: Context) -> Mapping[Label, float]: ...


@dataclass(frozen=True, slots=True)
class Sentence:
    """A unit of a message of this session. `turn` counts the user's messages from 0.

    `effects` are those of the rulebook, each with the ids of its rules; `scores` is empty for the assistant's sentences
    and for what is only shown.
    """

    message: Message
    unit: Unit
    number: int
    turn: int
    context: Context
    effects: Mapping[str, tuple[str, ...]]
    scores: Mapping[Label, float]

    @property
    def text(self) -> str:
        return self.unit.text

    @property
    def by_user(self) -> bool:
        return self.message.role == "user"

    def has(self, *effects: str) -> bool:
        return any(effect in self.effects for effect in effects)


def read_sentences(messages: Sequence[Message], rulebook: Rulebook, scorer: Scorer) -> list[Sentence]:
    """All sentences of a session that were said, in order. Tool output and system messages are no part of it."""
    said = [m for m in messages if is_said(m)]
    turns = sum(m.role == "user" for m in said)
    sentences: list[Sentence] = []
    turn = -1
    for place, message in enumerate(said):
        turn += message.role == "user"
        units = _looked_at(units_of(message.content))
        for number, unit in enumerate(units):
            context = Context(
                before=_spoken(said, place - 1),
                after=_telling(_spoken(said, place + 1)),
                earlier=units[number - 1].text if number else "",
                later=units[number + 1].text if number + 1 < len(units) else "",
                unit=number,
                units=len(units),
                turn=max(turn, 0),
                turns=turns,
            )
            scores = scorer.scores(unit, context) if message.role == "user" and unit.own else {}
            effects: Mapping[str, tuple[str, ...]] = {}
            if message.role == "user" and unit.own:
                effects = {**rulebook.effects(unit.text), **dict(_of_surroundings(unit, context))}
            elif unit.own:
                effects = _Unread(unit.text, rulebook)
            sentences.append(Sentence(message, unit, len(sentences), turn, context, effects, scores))
    return sentences


def _looked_at(units: list[Unit]) -> list[Unit]:
    return units if len(units) <= 2 * MOST_AT_AN_END else [*units[:MOST_AT_AN_END], *units[-MOST_AT_AN_END:]]


class _Unread(Mapping[str, tuple[str, ...]]):
    """The effects of a sentence of the assistant, found when they are asked for: for most of them nobody does, and they
    are the most of a talk."""

    __slots__ = ("_found", "_rulebook", "_text")

    def __init__(self, text: str, rulebook: Rulebook) -> None:
        self._text = text
        self._rulebook = rulebook
        self._found: Mapping[str, tuple[str, ...]] | None = None

    def __getitem__(self, effect: str) -> tuple[str, ...]:
        return self._read()[effect]

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def _read(self) -> Mapping[str, tuple[str, ...]]:
        if self._found is None:
            self._found = self._rulebook.effects(self._text)
        return self._found


def _of_surroundings(unit: Unit, context: Context) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Effects that no pattern of the sentence alone can have."""
    if not context.unit and phrase("asks").search(context.before):
        yield ANSWER, ("asked before",)
    if not phrase("status").search(unit.text):
        slots = tuple(f.slot.name for f in fillings(unit.text) if f.named and (f.kept or f.dropped))
        if slots:
            yield FILLED, slots


def _spoken(said: Sequence[Message], place: int) -> str:
    """The assistant's words at a place beside the user's message, or nothing."""
    if 0 <= place < len(said) and said[place].role == "assistant":
        return said[place].content
    return ""


# A bare acknowledgement says nothing of what it acknowledges; which of them an assistant likes is chance.
_ACKNOWLEDGED = frozenset(
    """ok okay noted understood got it sure right alright thanks thank you roger
    好 好的 明白 收到 了解 知道了 嗯 行 可以 没问题 記下了 记下了 已记住 👍""".split()  # noqa: SIM905
)


def _telling(reply: str) -> str:
    """The assistant's reply; any that only acknowledges is the plainest one, so that its wording weighs nothing."""
    words = reply.strip().strip(".!。！~ ").lower().replace(",", " ").split()
    if not words or len(words) > 3 or not all(word in _ACKNOWLEDGED for word in words):
        return reply
    return "OK." if words[0].isascii() else "好的。"
