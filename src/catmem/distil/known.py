"""What is known lends weight to a sentence: one that puts a memory out of force, or says a preference once more, is worth
keeping although it says little by itself ("staging is on Render now", 老规矩，画图)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catmem.distil.judge import Verdict
from catmem.distil.replacing import replaces
from catmem.distil.rulebook import phrase
from catmem.distil.transcript import Sentence
from catmem.domain.likeness import likeness
from catmem.domain.memory import Kind, Memory

# Kinds that stand until something else is said; work and open questions move on by themselves.
_LASTING: tuple[Kind, ...] = ("preference", "environment", "convention", "decision")
# So sure is one of a sentence that is kept for what it does to a memory.
_LIFTED = 0.65
# Where the user says that he has said it before, one word of it may do: "plan first, like always".
SAID_AGAIN = 0.38
_REFUSED = (
    "refuse-oneoff", "refuse-temporary", "refuse-hypothetical", "refuse-question", "refuse-sarcasm", "refuse-laughter",
    "refuse-other-person", "refuse-quoted", "refuse-chat", "refuse-task", "refuse-report", "retract",
)  # fmt: skip


def lifted(
    sentences: Sequence[Sentence], verdicts: Mapping[int, Verdict], present: Sequence[Memory]
) -> dict[int, Verdict]:
    """The verdicts, with those changed that a memory of an earlier session speaks for."""
    standing = [m for m in present if m.now.status == "live" and m.now.kind in _LASTING]
    changed = dict(verdicts)
    for sentence in sentences:
        verdict = verdicts.get(sentence.number)
        if verdict is None or verdict.kept or not _may_rise(sentence):
            continue
        for memory in standing:
            if _speaks_of(sentence, memory):
                kind = verdict.kind if sentence.has("settled") else memory.now.kind
                changed[sentence.number] = Verdict(True, kind, _LIFTED, f"{verdict.why}; changes {memory.id}")
                break
    return changed


def _may_rise(sentence: Sentence) -> bool:
    return sentence.unit.own and not sentence.has(*_REFUSED) and not phrase("status").search(sentence.text)


def _speaks_of(sentence: Sentence, memory: Memory) -> bool:
    now = memory.now
    if now.valid_from >= sentence.message.timestamp:
        return False
    if sentence.has("repeat") and now.kind == "preference":
        said = phrase("again").sub(" ", sentence.text)
        return likeness(said, now.text) >= SAID_AGAIN
    return sentence.has("replace") and replaces(sentence.text, now.text, told=True)
