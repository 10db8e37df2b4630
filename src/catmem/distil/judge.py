"""The verdict on a sentence: kept or not, as what, how surely, and why.

The classifier's odds are moved by the rules that apply; both speak in log-odds, so that a strong request outweighs a
doubtful score and a one-off outweighs a strong request.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from catmem.distil.classifier import Label
from catmem.distil.rulebook import phrase
from catmem.distil.transcript import Sentence
from catmem.domain.memory import Kind

# What an effect adds to the log-odds of being kept. `bench/corpus_chats.py --weigh` prints what a regression on the corpus
# gives each beside the classifier's score; the signs are its, the sizes are larger: the corpus is full of sentences built
# to mislead, and has few of the plain requests that the rules are for, on which the classifier is too doubtful.
WEIGHTS = {
    "remember": 2.0,
    "told": 1.2,
    "lasting": 0.5,
    "ordered": 2.2,
    "habit": 2.8,
    "norm": 1.1,
    "rule": 1.2,
    "choice": 2.2,
    "stop": 1.8,
    "decision": 0.5,
    "settled": 2.0,
    "named-choice": 1.2,
    "repeat": 2.0,
    "question": 1.8,
    "progress": 0.6,
    "parked": 1.8,
    "environment": 0.5,
    # So short and plain that the classifier, which was shown few such, mostly is in doubt: 0.2 to 0.4.
    "placed": 1.6,
    "noted": 1.1,
    "replace": 0.3,
    "answer": 1.5,
    "filled": 1.2,
    "assent": -0.6,
    "accept": -0.8,
    "refuse-oneoff": -4.0,
    "refuse-temporary": -1.3,
    "refuse-hypothetical": -2.5,
    "refuse-question": -2.2,
    "refuse-sarcasm": -4.0,
    "refuse-laughter": -1.5,
    "refuse-other-person": -1.8,
    "refuse-past": -1.4,
    "refuse-quoted": -0.5,
    "refuse-rejection": -1.5,
    "refuse-chat": -3.0,
    "refuse-task": -1.3,
    "refuse-report": -1.3,
}
# Scale and shift of the classifier's log-odds before the rules are added; from the same fit.
SLOPE, SHIFT = 1.0, 0.1
# Kept from here on. F1 over whole chats of the corpus is flat from 0.45 to 0.6 (83 to 84), while the share of chats without
# anything to keep that stay clean climbs from 67 % to 82 %: a wrong memory costs the user more than a missing one.
THRESHOLD = 0.55
# What an effect adds to the log of a kind's probability when the kind is chosen.
KIND_WEIGHTS: dict[str, dict[Kind, float]] = {
    "habit": {"preference": 1.5},
    "norm": {"convention": 1.2},
    "decision": {"decision": 1.2},
    "settled": {"decision": 3.2},
    "named-choice": {"decision": 1.5},
    "repeat": {"preference": 1.0},
    "question": {"question": 5.0},
    "progress": {"progress": 1.2},
    "parked": {"progress": 3.0},
    "rule": {"convention": 2.0},
    "stop": {"preference": 1.0},
    "environment": {"environment": 1.1},
    "answer": {"environment": 2.0},
    "ordered": {"preference": 0.8},
    "lasting": {"preference": 0.6, "convention": 0.4},
    # What is dictated and is about nobody is how things are done here.
    "told": {"convention": 0.3},
}
NOTHING: tuple[Label, ...] = ("none", "accept", "retract")
JUDGED: tuple[Kind, ...] = ("preference", "environment", "convention", "decision", "question", "progress")
_NOT_DICTATED = frozenset({"refuse-report", "refuse-task"})
# The log-odds are bounded before the rules speak, so that no score is beyond their reach.
_BOUND = 2.5
# Below this a kind is as good as any other that the classifier does not believe in.
_LEAST = 0.03
# "Remember that I …" is what the user is like, whatever words follow.
_ABOUT_SPEAKER = 2.5


@dataclass(frozen=True, slots=True)
class Verdict:
    """`confidence` is the probability of being worth keeping; `why` names the rules and the score behind it.

    A model may add `words`, the sentence shortened; `personal` is False where it says that it is not about the user.
    """

    kept: bool
    kind: Kind
    confidence: float
    why: str
    words: str = ""
    personal: bool = True


def judge(sentence: Sentence) -> Verdict:
    """Judges one sentence by itself; what later turns do to it is turns.py's."""
    bar = _barred(sentence)
    if bar:
        return Verdict(False, "note", 0.0, bar)
    worth = 1.0 - sum(sentence.scores.get(label, 0.0) for label in NOTHING)
    odds = SLOPE * _logit(worth) + SHIFT
    moved = {effect: WEIGHTS[effect] for effect in sentence.effects if effect in WEIGHTS}
    if sentence.has("told"):
        # What is dictated is neither reported nor asked for now: "remember: the timeout is 30 seconds".
        moved = {effect: weight for effect, weight in moved.items() if effect not in _NOT_DICTATED}
    confidence = _probability(odds + sum(moved.values()))
    rules = [rule for effect in moved for rule in sentence.effects[effect]]
    named = f"; rule{'s' if len(rules) > 1 else ''} {', '.join(rules)}" if rules else ""
    why = f"score {worth:.2f}{named}"
    return Verdict(confidence >= THRESHOLD, kind_of(sentence), round(confidence, 3), why)


def _barred(sentence: Sentence) -> str:
    """What no score can lift: words that are not the user's own, and sentences with nothing in them."""
    if not sentence.by_user:
        return "not the user's words"
    if not sentence.unit.own:
        return "shown, not said"
    if sentence.has("retract"):
        return "takes something back"
    if sentence.has("refuse-chat"):
        return "small talk"
    return ""


def believes(sentence: Sentence, kind: Kind) -> bool:
    """Whether the classifier holds a kind possible at all."""
    return any(label == kind and score >= _LEAST for label, score in sentence.scores.items())


def kind_of(sentence: Sentence) -> Kind:
    """The kind that classifier and rules make most likely."""
    believed: dict[str, float] = {label: score for label, score in sentence.scores.items()}  # noqa: C416  as plain names
    logs = {kind: math.log(max(believed.get(kind, 0.0), _LEAST)) for kind in JUDGED}
    if sentence.has("remember") and about_speaker(sentence.text):
        logs["preference"] += _ABOUT_SPEAKER
    for effect in sentence.effects:
        for kind, weight in KIND_WEIGHTS.get(effect, {}).items():
            logs[kind] += weight
    return max(JUDGED, key=lambda kind: logs[kind])


def about_speaker(text: str) -> bool:
    """Whether the user speaks of himself, and not of the work of several."""
    return bool(phrase("speaker").search(text)) and not phrase("work").search(text)


def _logit(probability: float) -> float:
    bounded = min(max(probability, 1e-6), 1 - 1e-6)
    return max(-_BOUND, min(_BOUND, math.log(bounded / (1 - bounded))))


def _probability(odds: float) -> float:
    return 1 / (1 + math.exp(-odds))
