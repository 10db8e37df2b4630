"""Trains the distiller's classifier on training/corpus and writes src/catmem/distil/weights.json.gz.

    python training/train.py              cross-validate, calibrate, train on everything, write, print the figures
    python training/train.py --check      cross-validate only
    python training/train.py --surprising list the corpus lines that the cross-validated model disagrees with most

Needs the dependency group `train` (scikit-learn). Deterministic: the same corpus gives the same file.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from figures import Outcome, print_figures, print_surprising
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

sys.path.insert(0, str(Path(__file__).parent.parent / "src"))

from corpus import Example, examples, read_chats

from catmem.distil.classifier import KEPT, cue_words, values_of
from catmem.distil.features import Vocabulary, features_of, words_of

TARGET = Path(__file__).parent.parent / "src/catmem/distil/weights.json.gz"
FOLDS = 5
# Inverse strength of the L2 penalty; 2.5 to 6 are alike in cross-validation, the weaker penalty is kinder to plain requests.
C = 5.0
# A Latin word of so many chats stands for itself, a rarer one for its shape.
COMMON_FROM = 6
# A feature of a single chat says more about that chat than about people.
FEATURE_FROM = 2
# Each keeper, and one in so many of the others, is learnt a second time as if nobody had answered yet: a live session is
# judged before there is an answer, and the writers of the corpus let few keepers stand last.
UNANSWERED_EVERY = 2
# Reasons that are told apart; telling them apart makes the kept classes sharper, telling all apart adds nothing.
REASONS = {
    "ask": "ask", "hypo": "hypo", "report": "report", "task": "task", "oneoff": "temporary", "temp": "temporary",
    "chat": "chat", "sarcasm": "chat", "quote": "foreign", "paste": "foreign", "secret": "foreign", "other": "foreign",
    "past": "past", "rejected": "past", "retracted": "past", "suggest": "past", "plain": "plain",
}  # fmt: skip
# Weights below this share of the largest are dropped, the others become integers up to LEVELS.
PRUNE = 0.012
LEVELS = 250


Row = list[tuple[str, float]]


@dataclass(slots=True)
class Data:
    """`rows[n]` are the features of `examples[n]` by value; `labels` the classes that are learnt.

    `unanswered[n]` are the same without the assistant's reply: a strong sentence is judged before there is one.
    """

    examples: list[Example]
    vocabulary: Vocabulary
    rows: list[Row]
    unanswered: list[Row]
    labels: np.ndarray
    chats: np.ndarray


def prepare() -> Data:
    known = [e for e in examples(read_chats()) if e.unit.own]
    vocabulary = Vocabulary(common_words(known), cue_words())
    return Data(
        known,
        vocabulary,
        [values_of(features_of(e.unit, e.context, vocabulary)) for e in known],
        [values_of(features_of(e.unit, replace(e.context, after=""), vocabulary)) for e in known],
        np.array([REASONS.get(e.label, e.label) for e in known]),
        np.array([e.chat for e in known]),
    )


def common_words(known: Sequence[Example]) -> frozenset[str]:
    """The words that enough chats use, and those of the cue lexicon."""
    chats = Counter(word for _, word in {(e.chat, w) for e in known for w in words_of(e.unit.text)})
    cues = {word for run in cue_words() for word in run.split() if word.isascii()}
    return frozenset(word for word, count in chats.items() if count >= COMMON_FROM) | cues


def columns_of(data: Data, chosen: Sequence[int]) -> dict[str, int]:
    """The features that enough chats of the chosen examples have, numbered by name."""
    pairs = {(data.chats[n], name) for n in chosen for name, _ in data.rows[n]}
    count = Counter(name for _, name in pairs)
    return {name: place for place, name in enumerate(sorted(n for n, c in count.items() if c >= FEATURE_FROM))}


def matrix(rows: Sequence[Row], columns: dict[str, int]) -> csr_matrix:
    starts, places, values = [0], [], []
    for row in rows:
        for name, value in row:
            if name in columns:
                places.append(columns[name])
                values.append(value)
        starts.append(len(places))
    return csr_matrix((values, places, starts), shape=(len(rows), len(columns)))


def fitted(data: Data, chosen: Sequence[int], columns: dict[str, int]) -> LogisticRegression:
    """The regression on the chosen examples, the keepers and some of the others shown once more without the reply."""
    again = [n for n in chosen if n % UNANSWERED_EVERY == 0 or data.labels[n] in KEPT]
    rows = [data.rows[n] for n in chosen] + [data.unanswered[n] for n in again]
    labels = np.concatenate([data.labels[chosen], data.labels[again]])
    return LogisticRegression(C=C, max_iter=300, tol=1e-3).fit(matrix(rows, columns), labels)


def pruned(coefficients: np.ndarray) -> tuple[np.ndarray, float]:
    """The weights as integers, and the step between two of them."""
    largest = np.abs(coefficients).max()
    step = largest / LEVELS
    whole = np.rint(np.where(np.abs(coefficients) < PRUNE * largest, 0, coefficients) / step).astype(int)
    return whole, float(step)


def cross_validated(data: Data) -> tuple[np.ndarray, list[str]]:
    """Out-of-fold logits of every example, by the pruned model that would be shipped; no chat in two folds."""
    classes = sorted(set(data.labels))
    logits = np.zeros((len(data.examples), len(classes)))
    folds = GroupKFold(FOLDS, shuffle=True, random_state=1)
    for train, test in folds.split(data.rows, data.labels, data.chats):
        columns = columns_of(data, train)
        model = fitted(data, train, columns)
        whole, step = pruned(model.coef_)
        logits[test] = matrix([data.rows[n] for n in test], columns) @ (whole * step).T + model.intercept_
    return logits, classes


def probabilities(logits: np.ndarray, temperature: float) -> np.ndarray:
    scaled = logits / temperature
    powers = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def calibrated(data: Data, logits: np.ndarray, classes: list[str]) -> float:
    """The temperature under which the out-of-fold probability of "worth keeping" is most likely."""
    kept = [classes.index(label) for label in KEPT]
    truth = np.isin(data.labels, KEPT)

    def loss(temperature: float) -> float:
        worth = probabilities(logits, temperature)[:, kept].sum(axis=1).clip(1e-6, 1 - 1e-6)
        return float(-np.where(truth, np.log(worth), np.log(1 - worth)).mean())

    return float(minimize_scalar(loss, bounds=(0.2, 3.0), method="bounded").x)


def write(data: Data, temperature: float) -> None:
    everything = np.arange(len(data.examples))
    columns = columns_of(data, everything)
    model = fitted(data, everything, columns)
    whole, step = pruned(model.coef_.T)
    names, rows = [], []
    for name, place in columns.items():
        present = np.flatnonzero(whole[place])
        if len(present):
            names.append(name)
            rows.extend([len(present), *(int(v) for c in present for v in (c, whole[place, c]))])
    record = {
        "classes": [str(label) for label in model.classes_],
        "bias": [round(float(b), 4) for b in model.intercept_],
        "step": round(step, 8),
        "temperature": round(temperature, 3),
        "common": sorted(data.vocabulary.common),
        "features": names,
        "rows": rows,
    }
    text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
    TARGET.write_bytes(gzip.compress(text.encode("utf-8"), 9, mtime=0))
    print(f"\n{TARGET.name}: {TARGET.stat().st_size / 1000:.0f} kB, {len(names)} features, {len(rows)} numbers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("--surprising", type=int, metavar="N", help="list the N most surprising labels")
    arguments = parser.parse_args()
    data = prepare()
    logits, classes = cross_validated(data)
    temperature = calibrated(data, logits, classes)
    outcome = Outcome(data.examples, probabilities(logits, temperature), classes)
    print_figures(outcome, temperature)
    if arguments.surprising:
        print_surprising(outcome, arguments.surprising)
    elif not arguments.check:
        write(data, temperature)


if __name__ == "__main__":
    main()
