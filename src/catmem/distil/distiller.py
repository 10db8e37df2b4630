"""The whole way from the messages of a session to what the ledger is told, with what a model selected or without."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catmem.distil.classifier import Classifier
from catmem.distil.digest import digest_of
from catmem.distil.facts import facts_of
from catmem.distil.judge import Verdict, judge
from catmem.distil.known import lifted
from catmem.distil.model.combine import combined
from catmem.distil.model.selection import NOTHING, Outcome, Selection, Unheeded
from catmem.distil.reconcile import reconcile
from catmem.distil.rulebook import load_rulebook
from catmem.distil.transcript import Scorer, Sentence, read_sentences
from catmem.distil.turns import Turns, read_turns
from catmem.distil.units import Unit
from catmem.domain.memory import Claim, Memory
from catmem.domain.message import Message
from catmem.domain.session import SessionRef

# How a session was distilled, as its line in the ledger says; the number counts ways that tell sessions differently.
RECIPES: Mapping[Outcome, str] = {"rules": "rules/1", "model": "model/1", "degraded": "rules/1 for model/1"}


@dataclass(frozen=True, slots=True)
class Judged:
    """A sentence of the user and why it was kept or not: what `--explain` prints."""

    message_id: int
    unit: Unit
    why: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a session leaves: claims for the ledger, ids of memories taken back, the digest, and why: the user's sentences
    that were kept and refused, and what was not taken of what the model said."""

    claims: tuple[Claim, ...]
    retired: tuple[str, ...]
    digest: Mapping[str, Any]
    kept: tuple[Judged, ...]
    refused: tuple[Judged, ...]
    unheeded: tuple[Judged, ...]


def read(messages: Sequence[Message], scorer: Scorer | None = None) -> list[Sentence]:
    """The sentences of a session; `scorer` is another classifier than the one shipped, for cross-validation."""
    return read_sentences(messages, load_rulebook(), scorer or Classifier.load())


def judged(sentences: Sequence[Sentence]) -> dict[int, Verdict]:
    """The verdict of the rules on each sentence of the user, by its number."""
    return {sentence.number: judge(sentence) for sentence in sentences if sentence.by_user}


def propose(
    session: SessionRef,
    sentences: Sequence[Sentence],
    new_from_id: int,
    present: Sequence[Memory],
    *,
    project_name: str = "",
    selection: Selection = NOTHING,
) -> Proposal:
    """Distils one session.

    sentences     of the live session so far, whole: acceptance and retraction look back
    new_from_id   what was settled by messages before this id has been distilled already and is not proposed again
    present       the memories in force, of this project and of the profile
    project_name  how people call the project; kept out of the topics
    selection     what a model selected of it

    Pure: the same input gives the same proposal with the same ids.
    """
    verdicts, unheeded = combined(sentences, judged(sentences), selection)
    verdicts = lifted(sentences, verdicts, present)
    turns = read_turns(sentences, verdicts)
    facts = facts_of(session, sentences, verdicts, turns)
    fresh = [fact for fact in facts if fact.decided_by >= new_from_id]
    reconciled = reconcile(session, fresh, _fresh_turns(turns, new_from_id), present)
    digest = dict(digest_of(sentences, facts, selection))
    digest["topics"] = [topic for topic in digest["topics"] if topic != project_name.lower()]
    told = [(verdicts[s.number].kept and s.number not in turns.retracted, s) for s in sentences if s.by_user]
    return Proposal(
        reconciled.claims,
        reconciled.retired,
        digest,
        tuple(_judged(s, verdicts, turns) for kept, s in told if kept and s.message.id >= new_from_id),
        tuple(_judged(s, verdicts, turns) for kept, s in told if not kept),
        tuple(_of_model(sentences, unheeded)),
    )


def _of_model(sentences: Sequence[Sentence], unheeded: Sequence[Unheeded]) -> Iterator[Judged]:
    for said in unheeded:
        sentence = sentences[said.number]
        yield Judged(sentence.message.id, sentence.unit, said.why)


def _fresh_turns(turns: Turns, new_from_id: int) -> Turns:
    """Only what the new messages take back; old retractions have had their effect."""
    retracted = {n: by for n, by in turns.retracted.items() if by.message.id >= new_from_id}
    return Turns(
        turns.accepted,
        retracted,
        tuple(s for s in turns.taken_back if s.number in retracted),
        tuple(s for s in turns.loose if s.message.id >= new_from_id),
    )


def _judged(sentence: Sentence, verdicts: Mapping[int, Verdict], turns: Turns) -> Judged:
    why = "taken back" if sentence.number in turns.retracted else verdicts[sentence.number].why
    return Judged(sentence.message.id, sentence.unit, why)
