"""Rules and model together. A model can lift what the rules leave in doubt and make surer what they keep; it can take
nothing away, and what a rule refuses for a reason of its own it cannot lift."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from catmem.distil.judge import Verdict, believes
from catmem.distil.model.selection import Pick, Selection, Unheeded
from catmem.distil.model.trust import LEAST, is_lifted
from catmem.distil.rulebook import phrase
from catmem.distil.transcript import Sentence
from catmem.domain.errors import DataDamaged
from catmem.domain.likeness import terms

# Reasons that stand whatever a model says. A yes is read where it is said, by turns.py, and states nothing itself.
_FINAL = (
    "refuse-oneoff", "refuse-temporary", "refuse-hypothetical", "refuse-question", "refuse-sarcasm", "refuse-laughter",
    "refuse-other-person", "refuse-quoted", "refuse-chat", "refuse-task", "refuse-report", "refuse-rejection",
    "refuse-past", "retract", "accept",
)  # fmt: skip
# Two words or so: less is an answer that means something only where it was given.
_LEAST_SAID = 2.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """How often a memory was right that a model lifted, and one that rules and model agree on; from calibration.toml."""

    lifted: float
    agreed: float


@cache
def calibration() -> Calibration:
    try:
        table = tomllib.loads(files(__package__).joinpath("calibration.toml").read_text("utf-8"))
        return Calibration(_share(table["lifted"]), _share(table["agreed"]))
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise DataDamaged(
            f"calibration.toml cannot be read ({error}); reinstall catmem",
            f"calibration.toml 无法读取（{error}）；请重新安装 catmem",
        ) from error


def _share(row: Mapping[str, int]) -> float:
    """How often it was right, drawn towards a half where there are few cases (Laplace's rule)."""
    return round((row["right"] + 1) / (row["of"] + 2), 3)


def liftable(sentence: Sentence, verdict: Verdict) -> bool:
    """Whether the rules leave a sentence in doubt, so that a model that has shown what it can do may decide."""
    if verdict.kept or verdict.confidence < LEAST or not sentence.by_user or not sentence.unit.own:
        return False
    if sentence.has(*_FINAL) or phrase("status").search(sentence.text):
        return False
    return sum(terms(sentence.text).values()) >= _LEAST_SAID


def combined(
    sentences: Sequence[Sentence], verdicts: Mapping[int, Verdict], selection: Selection
) -> tuple[dict[int, Verdict], tuple[Unheeded, ...]]:
    """The verdicts with the model's word in them, and which of its picks were not taken and why."""
    changed = dict(verdicts)
    unheeded = list(selection.unheeded)
    for number, pick in selection.picks.items():
        sentence, verdict = sentences[number], verdicts[number]
        if verdict.kept:
            sure = max(verdict.confidence, calibration().agreed)
            changed[number] = replace(
                verdict, confidence=sure, why=f"{verdict.why}; the model agrees", words=pick.words
            )
        elif (
            liftable(sentence, verdict)
            and is_lifted(verdict.confidence, selection.weight)
            and believes(sentence, pick.kind)
        ):
            why = f"{verdict.why}; the model selected it"
            # For the profile both must say that it is about the user.
            personal = pick.scope == "global"
            changed[number] = Verdict(True, pick.kind, calibration().lifted, why, pick.words, personal)
        else:
            unheeded.append(Unheeded(number, _refusal(sentence, verdict, pick, selection)))
    return changed, tuple(unheeded)


def _refusal(sentence: Sentence, verdict: Verdict, pick: Pick, selection: Selection) -> str:
    rules = [rule for effect in _FINAL for rule in sentence.effects.get(effect, ())]
    if rules:
        return f"refused by {', '.join(rules)}"
    if not liftable(sentence, verdict):
        return f"too little speaks for it: {verdict.why}"
    if not is_lifted(verdict.confidence, selection.weight):
        return f"the model's word does not weigh enough yet: {verdict.why}"
    return f"it is hardly a {pick.kind}"
