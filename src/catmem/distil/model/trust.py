"""How much a model's word weighs: by how much likelier it selects what is worth keeping than what is not.

Nobody knows the truth of a session, but the rules are sure of some sentences in either direction. A model that selects of
those what the rules keep, and leaves what is hopeless, shows that it can tell; one that guesses selects of both alike. The
weight is that ratio of likelihoods, so that it moves the odds that the rules give a sentence, as any evidence would.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from catmem.distil.judge import THRESHOLD

# A model that nobody knows is taken for one that selects half of what is worth keeping and a third of the rest. These few
# sentences are soon outweighed by what it does.
_KEPT, _SELECTED = 2, 1
_HOPELESS, _SLIPPED = 6, 2
# Whoever guesses comes to 1, give or take; one who always points at the last sentence, which is worth keeping more often
# than others, to 2.5 and now and then to 3 (`python -m bench.doubt --played`).
_LEAST_HEEDED = 4.0
# What lies between is harder than what is hopeless, so the ratio flatters; from here on it tells nothing more. Chats of the
# corpus whose labels a model answers from: F1 84.2 where it lifts from a confidence of 0.45, 86.3 from 0.2, 86.9 from 0.1
# (which this weight reaches), 87.2 where it lifts anything (`python -m bench.doubt`); below 0.1 one sentence in 25 is
# worth keeping, which only a model without a fault would gain by.
_MOST = 11.0


@dataclass(frozen=True, slots=True)
class Showing:
    """What one answer showed: of the sentences that the rules keep, and of the hopeless ones, how many stood before the
    model and how many of those it selected."""

    kept: int = 0
    selected: int = 0
    hopeless: int = 0
    slipped: int = 0

    @property
    def tells(self) -> bool:
        return bool(self.kept or self.hopeless)


NOTHING_SHOWN = Showing()


def weight_of(showings: Iterable[Showing]) -> float:
    """The factor by which the model's selecting a sentence raises its odds; below 1 it speaks against the sentence."""
    columns = list(zip(*map(astuple, showings), strict=True)) or [(0,)] * 4
    kept, selected, hopeless, slipped = map(sum, columns)
    hits = (selected + _SELECTED) / (kept + _KEPT)
    slips = (slipped + _SLIPPED) / (hopeless + _HOPELESS)
    return min(_MOST, hits / slips)


def is_lifted(confidence: float, weight: float) -> bool:
    """Whether a sentence of that confidence of the rules is kept when a model of that weight selects it."""
    return weight >= _LEAST_HEEDED and _odds(confidence) * weight >= _odds(THRESHOLD)


def _odds(probability: float) -> float:
    return probability / max(1e-9, 1.0 - probability)


LEAST = 1 / (1 + _MOST / _odds(THRESHOLD))
"""No model's word lifts a sentence of less confidence: nothing speaks for it, and who selects it guesses."""
