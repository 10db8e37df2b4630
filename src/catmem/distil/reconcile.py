"""The statements of a session against the memories that stand: known, new, replacing, or taking back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from catmem.distil.facts import SAME, Fact
from catmem.distil.known import SAID_AGAIN
from catmem.distil.replacing import corrects, only_goes, replaces
from catmem.distil.rulebook import phrase
from catmem.distil.slots import fillings
from catmem.distil.transcript import Sentence
from catmem.distil.triple import triple_of
from catmem.distil.turns import Turns
from catmem.domain.likeness import likeness, shared_weight, terms
from catmem.domain.memory import Claim, Kind, Memory, Scope, memory_id, normal
from catmem.domain.session import SessionRef

# So alike, a later state of work or an answer is one to the earlier.
_REPLACED = 0.4
# A preference is said in other words each time; its second saying is what promotes it.
_SAME_TASTE = 0.55
# What a retraction must share with a memory of an earlier session, which nobody has before his eyes.
_TAKEN_BACK = 2.0
# What the assistant has just said and the user repeats is the assistant's knowledge: our own brief, most likely.
_ECHO = 0.85


@dataclass(frozen=True, slots=True)
class Reconciled:
    claims: tuple[Claim, ...]
    retired: tuple[str, ...]


def reconcile(session: SessionRef, facts: Sequence[Fact], turns: Turns, present: Sequence[Memory]) -> Reconciled:
    """`present` are the live memories of the project and of the profile."""
    standing = [m for m in present if m.now.status == "live"]
    claims: list[Claim] = []
    retired: list[str] = []
    for fact in facts:
        known = _known(fact, standing)
        if known and _echoed(fact, known):
            continue
        replaced = [m.id for m in standing if m is not known and _replaces(fact, m)]
        if known and known.now.by == "assistant":
            # An assistant's note gives way to the user who says the same.
            replaced, known = [*replaced, known.id], None
        if known is None and replaced and _says_only_what_goes(fact):
            retired.extend(replaced)
        else:
            claims.append(_claim(session, fact, known, tuple(replaced)))
    retired.extend(_taken_back(session, turns, standing))
    kept = {claim.id for claim in claims}
    return Reconciled(_united(claims), tuple(id for id in dict.fromkeys(retired) if id not in kept))


def _known(fact: Fact, standing: Sequence[Memory]) -> Memory | None:
    """The memory that says the same, if there is one."""
    best: tuple[float, Memory] | None = None
    said = phrase("again").sub(" ", fact.text) if "repeat" in fact.effects else fact.text
    normal_text = _normal(fact.text)
    for memory in standing:
        now = memory.now
        least = _least_likeness(fact, now.kind)
        same = _normal(now.text) == normal_text
        near = 1.0 if same else likeness(said, now.text)
        if near < least or corrects(fact.text, now.text) or corrects(now.text, fact.text):
            continue
        if not same and "replace" in fact.effects and _replaces(fact, memory):
            # However like it is: "we moved from X to Y" is not "we use X" said again.
            continue
        if best is None or near > best[0]:
            best = (near, memory)
    return best[1] if best else None


# Each statement is held against each memory there is.
_normal = lru_cache(maxsize=16384)(normal)


def _least_likeness(fact: Fact, kind: Kind) -> float:
    taste = kind == "preference" and fact.kind in ("preference", "convention")
    if "repeat" in fact.effects:
        return SAID_AGAIN if taste else _SAME_TASTE
    return _SAME_TASTE if taste else SAME


def _echoed(fact: Fact, known: Memory) -> bool:
    lines = re.split(r"[\n.。!！?？]", fact.before)
    return any(likeness(line, known.now.text) >= _ECHO for line in lines if line.strip())


def _replaces(fact: Fact, memory: Memory) -> bool:
    now = memory.now
    if now.pinned or now.by == "user" or now.valid_from > fact.at:
        return False
    if fact.kind == "progress" or now.kind in ("progress", "question"):
        # How it stands is replaced by how it stands later, an open question by its answer; nothing else by these.
        answered = now.kind == "question" and fact.kind in ("decision", "convention", "environment")
        return (answered or fact.kind == now.kind == "progress") and likeness(fact.text, now.text) >= _REPLACED
    if fact.kind == "question":
        return False
    return replaces(fact.text, now.text, told="replace" in fact.effects)


def _says_only_what_goes(fact: Fact) -> bool:
    """ "mocha is gone" retires what was said of mocha and is nothing to know beside what came in its place."""
    filled = fillings(fact.text)
    if filled:
        return all(f.dropped and not f.kept for f in filled) and sum(terms(fact.text).values()) < _SHORT
    return only_goes(fact.text) and sum(terms(fact.text).values()) < _SHORT


_SHORT = 3.0


def _claim(session: SessionRef, fact: Fact, known: Memory | None, replaced: tuple[str, ...]) -> Claim:
    explicit = fact.remembered and fact.about_user
    if known:
        now = known.now
        return Claim(
            known.id, now.scope, known.project, now.kind, now.subject, now.predicate, now.object, now.text,
            fact.at, fact.confidence, now.tags, fact.evidence, replaced, explicit,
        )  # fmt: skip
    scope: Scope = "global" if explicit else "project"
    triple = triple_of(fact.text, fact.kind)
    id = memory_id(scope, session.project, triple.subject, triple.predicate, "" if triple.single else triple.object)
    return Claim(
        id, scope, session.project, fact.kind, triple.subject, triple.predicate, triple.object, fact.text,
        fact.at, fact.confidence, triple.tags, fact.evidence, tuple(r for r in replaced if r != id), explicit,
    )  # fmt: skip


def _united(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """One claim an id: the last word of the session."""
    by_id: dict[str, Claim] = {}
    for claim in claims:
        by_id.pop(claim.id, None)
        by_id[claim.id] = claim
    return tuple(by_id.values())


def _taken_back(session: SessionRef, turns: Turns, standing: Sequence[Memory]) -> list[str]:
    """Memories that an earlier run made from sentences now taken back, and what a retraction names of other sessions."""
    gone: list[str] = []
    for memory in standing:
        if memory.now.pinned or memory.now.by == "user":
            continue
        quotes = {(e.message_id, e.quote) for e in memory.now.evidence if e.session == session.key}
        others = any(e.session != session.key for e in memory.now.evidence)
        if not others and any((s.message.id, s.text) in quotes for s in turns.taken_back):
            gone.append(memory.id)
    for retraction in turns.loose:
        gone.extend(_named_by(retraction, session, standing))
    return gone


def _named_by(retraction: Sentence, session: SessionRef, standing: Sequence[Memory]) -> list[str]:
    named = [
        (shared_weight(retraction.text, m.now.text), m.id)
        for m in standing
        if not m.now.pinned and m.now.by != "user" and m.now.valid_from <= retraction.message.timestamp
    ]
    best = max(named, default=(0.0, ""))
    return [best[1]] if best[0] >= _TAKEN_BACK else []
