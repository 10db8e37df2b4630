"""What the turns of a talk do to its sentences: a proposal is accepted, a statement is taken back.

Only what happens inside one session is decided here; memories of earlier sessions are reconcile.py's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from catmem.distil.judge import Verdict
from catmem.distil.options import Option, chosen_option
from catmem.distil.transcript import Sentence
from catmem.domain.likeness import shared_weight

# The classifier's word for accept or retract counts like a rule's from here on.
_CERTAIN = 0.5
# How many of the user's turns back a proposal may lie, where the acceptance names something of it.
_PROPOSAL_REACH = 3
# A retraction that names nothing is about what was said just before.
_RETRACT_REACH = 3
# One shared name or two shared Chinese bigrams.
_NAMED = 1.0
# A yes that is only the manner of beginning has to name more.
_NAMED_WELL = 1.5
# What makes a yes none.
_NO_YES = (
    "refuse-question", "refuse-hypothetical", "refuse-sarcasm", "refuse-oneoff", "refuse-temporary", "progress", "parked",
)  # fmt: skip
# Shorter sentences propose a fix of a line, not a design.
_LEAST_WIDTH = 20


@dataclass(frozen=True, slots=True)
class Accepted:
    """A sentence of the assistant that the user made a decision by saying yes to it, or to `text` of it."""

    proposal: Sentence
    by: Sentence
    text: str


@dataclass(frozen=True, slots=True)
class Turns:
    """accepted: the proposals that hold. retracted: numbers of the sentences taken back, each with the sentence that did
    it. taken_back: those sentences. loose: retractions that found nothing to take back in this session."""

    accepted: tuple[Accepted, ...]
    retracted: Mapping[int, Sentence]
    taken_back: tuple[Sentence, ...]
    loose: tuple[Sentence, ...]


def read_turns(sentences: Sequence[Sentence], verdicts: Mapping[int, Verdict]) -> Turns:
    """`verdicts` are by sentence number, for the user's sentences."""
    accepted: list[Accepted] = []
    retracted: dict[int, Sentence] = {}
    loose: list[Sentence] = []
    for sentence in sentences:
        if not sentence.by_user or not sentence.unit.own:
            continue
        if _retracts(sentence):
            targets = _taken_back(sentence, sentences, verdicts, accepted, retracted)
            retracted.update(dict.fromkeys(targets, sentence))
            if not targets:
                loose.append(sentence)
        else:
            option = _option_for(sentence, sentences, stated=verdicts[sentence.number].kept)
            if option and all(option.text != a.text for a in accepted):
                accepted.append(Accepted(option.sentence, sentence, option.text))
    held = tuple(a for a in accepted if a.proposal.number not in retracted)
    return Turns(held, retracted, tuple(sentences[number] for number in sorted(retracted)), tuple(loose))


def _option_for(sentence: Sentence, sentences: Sequence[Sentence], *, stated: bool) -> Option | None:
    """What a sentence of the user accepts: the option that it names by its place, else a proposal as a whole."""
    if not sentence.context.unit and not _barred(sentence):
        earlier = takewhile(lambda s: s.turn >= sentence.turn - 1, _backwards(sentences, sentence.number))
        before = [s for s in earlier if not s.by_user and s.turn == sentence.turn - 1][::-1]
        option = chosen_option(sentence.text, before)
        if option:
            return option
    if _accepts(sentence) or (_assents(sentence) and not stated):
        proposal = _proposal_for(sentence, sentences, stated=stated)
        return Option(proposal, proposal.text) if proposal else None
    return None


def _backwards(sentences: Sequence[Sentence], number: int) -> Iterator[Sentence]:
    """The sentences before a number, the nearest first; a talk may have a hundred thousand, and few of them are asked for."""
    return (sentences[place] for place in range(number - 1, -1, -1))


def _accepts(sentence: Sentence) -> bool:
    """Whether it says yes to a proposal as a whole, without having to name it."""
    return not _barred(sentence) and (sentence.has("accept") or sentence.scores.get("accept", 0.0) >= _CERTAIN)


def _assents(sentence: Sentence) -> bool:
    """Whether it begins like a yes; what it names tells to what."""
    return not _barred(sentence) and not sentence.has("refuse-task", "refuse-report") and sentence.has("assent")


def _barred(sentence: Sentence) -> bool:
    return sentence.has(*_NO_YES)


def _retracts(sentence: Sentence) -> bool:
    if sentence.has("refuse-question"):
        return False
    return sentence.has("retract") or sentence.scores.get("retract", 0.0) >= _CERTAIN


def _proposal_for(acceptance: Sentence, sentences: Sequence[Sentence], *, stated: bool) -> Sentence | None:
    """The proposal that is meant: one of which the user names something, or the nearest if he says yes to it as a whole.

    `stated`: the acceptance says itself what is decided, so that a sentence which only is about it adds nothing.

    A message of the assistant belongs to the turn of the user before it, so the last one has distance 1.
    """
    whole = _accepts(acceptance)
    least = _NAMED if whole else _NAMED_WELL
    best: tuple[float, int] | None = None
    nearest = 0
    for candidate in _backwards(sentences, acceptance.number):
        distance = acceptance.turn - candidate.turn
        if distance > _PROPOSAL_REACH:
            break
        named = shared_weight(acceptance.text, candidate.text)
        if not _could_be_meant(candidate, whole and not stated and named >= _NAMED):
            continue
        nearest = nearest or distance
        if named < least and not (whole and distance == nearest):
            continue
        rank = (named - 0.5 * distance, candidate.number)
        if best is None or rank > best:
            best = rank
    return sentences[best[1]] if best else None


def _could_be_meant(sentence: Sentence, named: bool) -> bool:
    """A proposing sentence of the assistant; where the user names it and says yes, any that states something."""
    if sentence.by_user or not sentence.unit.own or sentence.has("done", "refuse-question"):
        return False
    return _says_enough(sentence.text) and (named or sentence.has("proposal"))


def _says_enough(text: str) -> bool:
    """A choice of names for one thing is no design."""
    words = re.sub(r"`[^`]*`", "", text)
    return sum(1 if c.isascii() else 2 for c in words) >= _LEAST_WIDTH


def _taken_back(
    retraction: Sentence,
    sentences: Sequence[Sentence],
    verdicts: Mapping[int, Verdict],
    accepted: Sequence[Accepted],
    gone: Mapping[int, Sentence],
) -> list[int]:
    """What the retraction names, else the last thing worth keeping that was said shortly before."""
    proposals = {a.proposal.number: a.by.turn for a in accepted}
    standing = [
        s
        for s in sentences[: retraction.number]
        if s.number not in gone and (s.number in proposals or (s.number in verdicts and verdicts[s.number].kept))
    ]
    named = [s for s in standing if shared_weight(retraction.text, s.text) >= _NAMED]
    if named:
        return [s.number for s in named]
    near = [s for s in standing if retraction.turn - proposals.get(s.number, s.turn) <= _RETRACT_REACH]
    return [near[-1].number] if near else []
