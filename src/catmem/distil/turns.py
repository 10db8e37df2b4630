"""What the turns of a talk do to its sentences: a proposal is accepted, a statement is taken back.

Only what happens inside one session is decided here; memories of earlier sessions are reconcile.py's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from catmem.distil.judge import Verdict
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
# Shorter sentences propose a fix of a line, not a design.
_LEAST_WIDTH = 20


@dataclass(frozen=True, slots=True)
class Accepted:
    """A sentence of the assistant that the user made a decision by saying yes to it."""

    proposal: Sentence
    by: Sentence


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
        elif _accepts(sentence):
            proposal = _proposal_for(sentence, sentences)
            if proposal and all(proposal.number != a.proposal.number for a in accepted):
                accepted.append(Accepted(proposal, sentence))
    held = tuple(a for a in accepted if a.proposal.number not in retracted)
    return Turns(held, retracted, tuple(sentences[number] for number in sorted(retracted)), tuple(loose))


def _accepts(sentence: Sentence) -> bool:
    if sentence.has("refuse-question", "refuse-hypothetical", "refuse-sarcasm", "refuse-oneoff"):
        return False
    return sentence.has("accept") or sentence.scores.get("accept", 0.0) >= _CERTAIN


def _retracts(sentence: Sentence) -> bool:
    if sentence.has("refuse-question"):
        return False
    return sentence.has("retract") or sentence.scores.get("retract", 0.0) >= _CERTAIN


def _proposal_for(acceptance: Sentence, sentences: Sequence[Sentence]) -> Sentence | None:
    """The proposal that is meant: of the message before, or an earlier one of which the user names something."""
    best: tuple[float, int] | None = None
    for candidate in reversed(sentences[: acceptance.number]):
        distance = acceptance.turn - candidate.turn
        if distance > _PROPOSAL_REACH:
            break
        if not _proposes(candidate):
            continue
        named = shared_weight(acceptance.text, candidate.text)
        # A message of the assistant belongs to the turn of the user before it, so distance 1 is the last one.
        if distance > 1 and named < _NAMED:
            continue
        rank = (named - 0.5 * distance, candidate.number)
        if best is None or rank > best:
            best = rank
    return sentences[best[1]] if best else None


def _proposes(sentence: Sentence) -> bool:
    wide = sum(1 if c.isascii() else 2 for c in sentence.text)
    return not sentence.by_user and sentence.unit.own and wide >= _LEAST_WIDTH and sentence.has("proposal")


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
