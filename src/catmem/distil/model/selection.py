"""What a model selected of a session: numbers of sentences, and what it says of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from catmem.domain.memory import Kind, Scope


@dataclass(frozen=True, slots=True)
class Pick:
    """One sentence that the model holds worth keeping. `words` is its own wording, checked against the sentence, or ""."""

    number: int
    kind: Kind
    scope: Scope
    sure: bool
    words: str = ""


@dataclass(frozen=True, slots=True)
class Unheeded:
    """A claim of the model that was not taken, and why. `number` is 0 where it pointed at no sentence."""

    number: int
    why: str


@dataclass(frozen=True, slots=True)
class Topic:
    """A word of the talk and its translation, so that a search in either language finds the session."""

    word: str
    also: str


@dataclass(frozen=True, slots=True)
class Selection:
    """What was selected: of a window, of several united, or of nothing. `weight` is that of the model's word (trust.py)."""

    picks: Mapping[int, Pick] = field(default_factory=dict)
    unheeded: tuple[Unheeded, ...] = ()
    progress: str = ""
    topics: tuple[Topic, ...] = ()
    weight: float = 1.0


NOTHING = Selection()

Outcome = Literal["rules", "model", "degraded"]
"""How a session was distilled: without a model; with what it selected; without, since it failed."""

_MOST_TOPICS = 8


def united(selections: Sequence[Selection]) -> Selection:
    """The selections of overlapping windows as one. A later window has seen more of what came after, so its word on a
    sentence that both know stands; the last progress is the present one."""
    picks: dict[int, Pick] = {}
    topics: dict[str, Topic] = {}
    progress = ""
    for selection in selections:
        picks.update(selection.picks)
        progress = selection.progress or progress
        for topic in selection.topics:
            topics.setdefault(topic.word.lower(), topic)
    unheeded = tuple(u for selection in selections for u in selection.unheeded)
    # The last one has seen all that the model has shown.
    weight = selections[-1].weight if selections else 1.0
    return Selection(picks, unheeded, progress, tuple(topics.values())[:_MOST_TOPICS], weight)
