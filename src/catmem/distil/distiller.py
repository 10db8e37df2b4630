"""Distilling without a model: the whole way from the messages of a session to what the ledger is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catmem.distil.classifier import Classifier
from catmem.distil.digest import digest_of
from catmem.distil.facts import facts_of
from catmem.distil.judge import Verdict, judge
from catmem.distil.known import lifted
from catmem.distil.reconcile import reconcile
from catmem.distil.rulebook import load_rulebook
from catmem.distil.transcript import Scorer, Sentence, read_sentences
from catmem.distil.turns import Turns, read_turns
from catmem.distil.units import Unit
from catmem.domain.memory import Claim, Memory
from catmem.domain.message import Message
from catmem.domain.session import SessionRef

RECIPE = "rules/1"


@dataclass(frozen=True, slots=True)
class Refused:
    """A sentence of the user that was not kept, and why: what `--explain` prints."""

    message_id: int
    unit: Unit
    why: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a session leaves: claims for the ledger, ids of memories taken back, the digest, and what was refused."""

    claims: tuple[Claim, ...]
    retired: tuple[str, ...]
    digest: Mapping[str, Any]
    refused: tuple[Refused, ...]


def propose(
    session: SessionRef,
    messages: Sequence[Message],
    new_from_id: int,
    present: Sequence[Memory],
    *,
    project_name: str = "",
    scorer: Scorer | None = None,
) -> Proposal:
    """Distils one session.

    messages      the live session so far, whole: acceptance and retraction look back
    new_from_id   what was settled by messages before this id has been distilled already and is not proposed again
    present       the memories in force, of this project and of the profile
    project_name  how people call the project; kept out of the topics
    scorer        another classifier than the one shipped, for cross-validation

    Pure: the same input gives the same proposal with the same ids.
    """
    sentences = read_sentences(messages, load_rulebook(), scorer or Classifier.load())
    verdicts = lifted(sentences, {s.number: judge(s) for s in sentences if s.by_user}, present)
    turns = read_turns(sentences, verdicts)
    facts = facts_of(session, sentences, verdicts, turns)
    fresh = [fact for fact in facts if fact.decided_by >= new_from_id]
    reconciled = reconcile(session, fresh, _fresh_turns(turns, new_from_id), present)
    digest = dict(digest_of(sentences, facts))
    digest["topics"] = [topic for topic in digest["topics"] if topic != project_name.lower()]
    refused = tuple(_refused(sentences, verdicts, turns))
    return Proposal(reconciled.claims, reconciled.retired, digest, refused)


def _fresh_turns(turns: Turns, new_from_id: int) -> Turns:
    """Only what the new messages take back; old retractions have had their effect."""
    retracted = {n: by for n, by in turns.retracted.items() if by.message.id >= new_from_id}
    return Turns(
        turns.accepted,
        retracted,
        tuple(s for s in turns.taken_back if s.number in retracted),
        tuple(s for s in turns.loose if s.message.id >= new_from_id),
    )


def _refused(sentences: Sequence[Sentence], verdicts: Mapping[int, Verdict], turns: Turns) -> list[Refused]:
    refused = []
    for sentence in sentences:
        verdict = verdicts.get(sentence.number)
        if verdict is None:
            continue
        if sentence.number in turns.retracted:
            refused.append(Refused(sentence.message.id, sentence.unit, "taken back"))
        elif not verdict.kept:
            refused.append(Refused(sentence.message.id, sentence.unit, verdict.why))
    return refused
