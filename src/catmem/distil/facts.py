"""The statements that one session leaves, before anything is known of other sessions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from catmem.distil.judge import WEIGHTS, Verdict, about_speaker
from catmem.distil.replacing import corrects, replaces
from catmem.distil.rulebook import load_rulebook, phrase
from catmem.distil.slots import fillings
from catmem.distil.transcript import Sentence
from catmem.distil.turns import Accepted, Turns
from catmem.distil.wording import worded
from catmem.domain.likeness import likeness, shared_weight
from catmem.domain.memory import LASTING_KINDS, Evidence, Kind
from catmem.domain.session import SessionRef

# From here on two sentences of one talk are one statement.
SAME = 0.72


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement of this session. `decided_by` is the id of the user's message that made it hold; `effects` are those of
    its sentence; `before` is what the assistant had said."""

    text: str
    kind: Kind
    confidence: float
    remembered: bool
    about_user: bool
    at: str
    decided_by: int
    evidence: tuple[Evidence, ...]
    effects: frozenset[str]
    before: str


# A yes that is itself as sure to be worth keeping says more than yes.
_SAYS_MORE = 0.7


def facts_of(
    session: SessionRef, sentences: Sequence[Sentence], verdicts: Mapping[int, Verdict], turns: Turns
) -> list[Fact]:
    """In the order of their being settled; said twice is once, and the last word of a session wins."""
    accepted = {a.by.number: a for a in turns.accepted}
    facts: list[Fact] = []
    for sentence in sentences:
        if sentence.number in turns.retracted:
            continue
        verdict = verdicts.get(sentence.number)
        if sentence.number in accepted:
            _add(facts, _accepted(session, accepted[sentence.number]))
        least = _SAYS_MORE if sentence.number in accepted else 0.0
        if verdict and verdict.kept and verdict.confidence >= least:
            for fact in _stated(session, sentence, verdict):
                _add(facts, fact)
    return facts


def _stated(session: SessionRef, sentence: Sentence, verdict: Verdict) -> list[Fact]:
    replacing = sentence.has("replace") or any(f.dropped for f in fillings(sentence.text))
    message = sentence.message
    parts = _telling(sentence, worded(sentence.text, whole=replacing))
    if verdict.words and len(parts) == 1 and not replacing:
        parts = [verdict.words]
    return [
        Fact(
            text=text,
            kind=verdict.kind,
            confidence=verdict.confidence,
            remembered=sentence.has("remember"),
            about_user=verdict.personal and _about_user(sentence.text, verdict.kind),
            at=message.timestamp,
            decided_by=message.id,
            evidence=(_evidence(session, sentence),),
            effects=frozenset(sentence.effects),
            before=sentence.context.before,
        )
        for text in parts
        if not _only_secret(text)
    ]


def _telling(sentence: Sentence, parts: list[str]) -> list[str]:
    """Of the parts of a sentence those for which a rule speaks, if it speaks for any; of a list of rules all."""
    if len(parts) == 1 or phrase("heading").match(sentence.text):
        return parts
    spoken = [p for p in parts if any(WEIGHTS.get(effect, 0.0) > 0 for effect in load_rulebook().effects(p))]
    return spoken or parts


# An accepted proposal is a decision by the user's own word; the rest of doubt is whether we found the right sentence.
_ACCEPTED_CONFIDENCE = 0.75


def _accepted(session: SessionRef, accepted: Accepted) -> Fact:
    by = accepted.by
    return Fact(
        text=worded(accepted.text, whole=True)[0],
        kind="decision",
        confidence=_ACCEPTED_CONFIDENCE,
        remembered=False,
        about_user=False,
        at=by.message.timestamp,
        decided_by=by.message.id,
        evidence=(_evidence(session, accepted.proposal), _evidence(session, by)),
        effects=frozenset({"accept"}),
        before="",
    )


def _evidence(session: SessionRef, sentence: Sentence) -> Evidence:
    message = sentence.message
    return Evidence(message.timestamp, session.project, session.key, message.id, sentence.text)


def _add(facts: list[Fact], fact: Fact) -> None:
    """Said again: evidence of the first saying. Corrected: the later one in its place."""
    for place, known in enumerate(facts):
        if _corrected(fact, known):
            facts[place] = fact
            return
        if likeness(fact.text, known.text) >= SAME:
            evidence = tuple(dict.fromkeys((*known.evidence, *fact.evidence)))
            confidence = max(known.confidence, fact.confidence)
            facts[place] = replace(
                known, evidence=evidence, confidence=confidence, remembered=known.remembered or fact.remembered
            )
            return
    facts.append(fact)


def _corrected(fact: Fact, known: Fact) -> bool:
    """Whether a talk goes back on what was said earlier in it: by another value, or by telling that something changed."""
    if corrects(fact.text, known.text):
        return True
    lasting = fact.kind in LASTING_KINDS and known.kind in LASTING_KINDS
    return lasting and "replace" in fact.effects and replaces(fact.text, known.text, told=True)


def _about_user(text: str, kind: Kind) -> bool:
    """Whether a statement is about the person rather than about the work."""
    if kind == "preference":
        return not phrase("work").search(text)
    return kind in ("environment", "convention") and about_speaker(text)


_SECRET = re.compile(r"\[secret:[^\]]*\]")


def _only_secret(text: str) -> bool:
    """Whether nothing that can be known is left beside a secret."""
    if not _SECRET.search(text):
        return False
    return shared_weight(_SECRET.sub(" ", text), text) < _SECRET_LEAST


# Beside the secret there must be a fact of its own: more than "remember this token, use it for all calls".
_SECRET_LEAST = 5.0
