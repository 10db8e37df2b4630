"""The figures of a cross-validation: how well "worth keeping" is told, by kind, language and reason, and how honest the
probabilities are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from corpus import Example
from sklearn.metrics import average_precision_score

KEPT = ("preference", "environment", "convention", "decision", "question", "progress")


@dataclass(slots=True)
class Outcome:
    """`chances[n, c]` is the out-of-fold probability of class `classes[c]` for `examples[n]`."""

    examples: list[Example]
    chances: np.ndarray
    classes: list[str]

    @property
    def truth(self) -> np.ndarray:
        return np.array([e.label in KEPT for e in self.examples])

    @property
    def worth(self) -> np.ndarray:
        return self.chances[:, [self.classes.index(k) for k in KEPT]].sum(axis=1)

    @property
    def kinds(self) -> np.ndarray:
        places = [self.classes.index(k) for k in KEPT]
        return np.array(KEPT)[self.chances[:, places].argmax(axis=1)]


def best_threshold(truth: np.ndarray, worth: np.ndarray) -> float:
    """Where F1 is highest."""
    order = np.argsort(-worth, kind="stable")
    hits = np.cumsum(truth[order])
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + truth.sum())
    return float(worth[order[int(f1.argmax())]])


def _row(truth: np.ndarray, chosen: np.ndarray) -> str:
    hits = int((truth & chosen).sum())
    precision, recall = hits / max(1, chosen.sum()), hits / max(1, truth.sum())
    f1 = 2 * precision * recall / max(1e-9, precision + recall)
    return f"{precision:.3f} | {recall:.3f} | {f1:.3f}"


def print_figures(outcome: Outcome, temperature: float) -> None:
    truth, worth, kinds = outcome.truth, outcome.worth, outcome.kinds
    labels = np.array([e.label for e in outcome.examples])
    languages = np.array([e.language for e in outcome.examples])
    bar = best_threshold(truth, worth)
    chosen = worth >= bar
    print(f"{len(truth)} sentences of users, {truth.sum()} worth keeping, temperature {temperature:.2f}")
    print(f"\nOperating point: worth >= {bar:.2f} (best F1)\n")
    print("| worth keeping | average precision | precision | recall | F1 |\n|---|---|---|---|---|")
    print(f"| all | {average_precision_score(truth, worth):.3f} | {_row(truth, chosen)} |")
    for language in ("en", "zh", "mix"):
        mine = languages == language
        score = average_precision_score(truth[mine], worth[mine])
        print(f"| {language} | {score:.3f} | {_row(truth[mine], chosen[mine])} |")
    print("\n| kind (kept, and as this kind) | precision | recall | F1 |\n|---|---|---|---|")
    for kind in KEPT:
        print(f"| {kind} ({(labels == kind).sum()}) | {_row(labels == kind, chosen & (kinds == kind))} |")
    right = (kinds == labels)[truth & chosen].mean()
    print(f"\nOf those rightly kept, {right:.1%} have the right kind.")
    for label in ("accept", "retract"):
        chance = outcome.chances[:, outcome.classes.index(label)]
        print(f"{label}: average precision {average_precision_score(labels == label, chance):.3f}")
    print("\n| hard negative | sentences | wrongly kept |\n|---|---|---|")
    for label, count in Counter(labels[~truth]).most_common():
        print(f"| {label} | {count} | {chosen[labels == label].mean():.1%} |")
    print("\n| probability | sentences | said | true |\n|---|---|---|---|")
    for low in np.arange(0, 1, 0.1):
        inside = (worth >= low) & (worth < low + 0.1)
        if inside.any():
            print(f"| {low:.1f} | {inside.sum()} | {worth[inside].mean():.2f} | {truth[inside].mean():.2f} |")


def print_surprising(outcome: Outcome, count: int) -> None:
    """The labels that the model finds least likely, those of kept sentences by kind, the others by worth."""
    worth = outcome.worth
    place = {label: n for n, label in enumerate(outcome.classes)}
    doubt = [
        1 - outcome.chances[n, place[e.label]] if e.label in KEPT else worth[n] for n, e in enumerate(outcome.examples)
    ]
    for n in np.argsort(doubt)[::-1][:count]:
        e = outcome.examples[n]
        guess = outcome.classes[int(outcome.chances[n].argmax())]
        print(f"{e.where} [{e.label} -> {guess} {worth[n]:.2f}] {e.unit.text}")
