"""Is a sentence worth keeping, and as what: a linear model whose weights are data (weights.json.gz, see training/).

A multinomial logistic regression over named features. Standard library only; the file is read once a process.
"""

from __future__ import annotations

import gzip
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from catmem.distil.features import Context, Group, Vocabulary, features_of
from catmem.distil.units import Unit
from catmem.domain.errors import DataDamaged

Label = Literal[
    "none", "preference", "environment", "convention", "decision", "question", "progress", "accept", "retract"
]  # fmt: skip
KEPT: Final[tuple[Label, ...]] = ("preference", "environment", "convention", "decision", "question", "progress")
LABELS: Final[tuple[Label, ...]] = ("none", *KEPT, "accept", "retract")

# How much each group of features counts. Groups of many features are divided by a power of their number, so that a long
# sentence is not much surer than a short one; the others are few and stand as they are. Chosen by cross-validation
# (training/README.md); place and reply are held below their best there, because they depend on how the corpus's
# writers lay out a chat, and the words of the user do not.
GROUP_WEIGHTS: Final[Mapping[str, float]] = {
    "words": 1.0,
    "names": 0.7,
    "cues": 0.3,
    "form": 0.3,
    "place": 0.1,
    "reply": 0.4,
    "near": 0.2,
}
_SPREAD: Final = frozenset({"words", "names", "reply", "near"})
# 0.5 would make all lengths equal; 0.35 tells the kinds better (73 % against 71 %) and keeping as well.
_DAMPING: Final = 0.35


def values_of(groups: Iterable[Group]) -> list[tuple[str, float]]:
    """The value of each feature, each once."""
    values: list[tuple[str, float]] = []
    for group, names in groups:
        unique = dict.fromkeys(names)
        weight = GROUP_WEIGHTS[group]
        if unique and group in _SPREAD:
            weight /= len(unique) ** _DAMPING
        values.extend((name, weight) for name in unique)
    return values


@dataclass(frozen=True, slots=True)
class Classifier:
    """`classes` are the labels, "none" being split by its reasons ("task", "report", …) as in training.

    `weights` of a feature: pairs of a class's number and an integer, to be multiplied by `step`.
    """

    classes: tuple[str, ...]
    bias: tuple[float, ...]
    step: float
    temperature: float
    vocabulary: Vocabulary
    weights: Mapping[str, tuple[int, ...]]

    @classmethod
    def load(cls) -> Classifier:
        """The shipped model. Raises DataDamaged if the installation is broken."""
        return _shipped()

    def scores(self, unit: Unit, context: Context) -> dict[Label, float]:
        """The probability of each of LABELS, calibrated; they sum to 1. About a third of a millisecond a sentence."""
        return _merged(self.reasons(unit, context))

    def reasons(self, unit: Unit, context: Context) -> dict[str, float]:
        """Like `scores`, with "none" told apart by its reasons; for explaining."""
        sums = [0.0] * len(self.classes)
        rows = self.weights
        for name, value in values_of(features_of(unit, context, self.vocabulary)):
            row = rows.get(name)
            if row is not None:
                for place in range(0, len(row), 2):
                    sums[row[place]] += value * row[place + 1]
        logits = [(b + s * self.step) / self.temperature for b, s in zip(self.bias, sums, strict=True)]
        top = max(logits)
        powers = [math.exp(logit - top) for logit in logits]
        total = sum(powers)
        return {label: power / total for label, power in zip(self.classes, powers, strict=True)}


def worth(scores: Mapping[Label, float]) -> float:
    """The probability that a sentence is worth keeping, as whatever kind."""
    return sum(scores[label] for label in KEPT)


def _merged(reasons: Mapping[str, float]) -> dict[Label, float]:
    merged = {label: reasons.get(label, 0.0) for label in LABELS}
    merged["none"] = sum(p for label, p in reasons.items() if label not in merged) + reasons.get("none", 0.0)
    return merged


def cue_words() -> dict[str, tuple[str, ...]]:
    """The cue lexicon as `Vocabulary.cues`: runs of atoms -> groups."""
    try:
        table = tomllib.loads(resources.files(__package__).joinpath("cues.toml").read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise _damaged("cues.toml", error) from error
    cues: dict[str, tuple[str, ...]] = {}
    for group, phrases in table.items():
        for phrase in phrases:
            run = phrase if phrase.isascii() else " ".join(phrase)
            cues[run] = (*cues.get(run, ()), group)
    return cues


@cache
def _shipped() -> Classifier:
    try:
        packed = resources.files(__package__).joinpath("weights.json.gz").read_bytes()
        return from_record(json.loads(gzip.decompress(packed)))
    except (OSError, EOFError, ValueError, KeyError, TypeError) as error:
        raise _damaged("weights.json.gz", error) from error


def from_record(record: Mapping[str, Any]) -> Classifier:
    """The model of the JSON object that training/train.py writes.

    `rows` are the weights of all features in one list of integers: the number of classes named, then class and weight
    of each.
    """
    rows: Iterable[int] = iter(record["rows"])
    stream = iter(rows)
    weights: dict[str, tuple[int, ...]] = {}
    for name in record["features"]:
        weights[name] = tuple(next(stream) for _ in range(2 * next(stream)))
    return Classifier(
        classes=tuple(record["classes"]),
        bias=tuple(record["bias"]),
        step=float(record["step"]),
        temperature=float(record["temperature"]),
        vocabulary=Vocabulary(frozenset(record["common"]), cue_words()),
        weights=weights,
    )


def _damaged(name: str, error: Exception) -> DataDamaged:
    return DataDamaged(
        f"the model's file {name} cannot be read ({error}); reinstall catmem",
        f"模型文件 {name} 无法读取（{error}）；请重新安装 catmem",
    )
