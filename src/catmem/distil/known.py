"""What is known lends weight to a sentence: one that puts a memory out of force, or says a preference once more, is worth
keeping although it says little by itself ("staging is on Render now", 老规矩，画图)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from catmem.distil.judge import Verdict
from catmem.distil.replacing import replaces
from catmem.distil.rulebook import phrase
from catmem.distil.transcript import Sentence
from catmem.domain.likeness import likeness
from catmem.domain.memory import LASTING_KINDS, Kind, Memory

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
    """The verdicts, with those changed that a memory of an earlier session speaks for, or an earlier statement of this."""
    standing = [m for m in present if m.now.status == "live" and m.now.kind in LASTING_KINDS]
    changed = dict(verdicts)
    said: list[Sentence] = []
    for sentence in sentences:
        verdict = verdicts.get(sentence.number)
        if verdict is None:
            continue
        if verdict.kept and verdict.kind in LASTING_KINDS:
            said.append(sentence)
        if verdict.kept or not _may_rise(sentence):
            continue
        changes: tuple[str, Kind] | None = next(
            ((f"message {e.message.id}", verdicts[e.number].kind) for e in said if _goes_back_on(sentence, e)),
            next(((m.id, m.now.kind) for m in standing if _speaks_of(sentence, m)), None),
        )
        if changes:
            what, kind = changes
            kind = verdict.kind if sentence.has("settled") else kind
            changed[sentence.number] = Verdict(True, kind, _LIFTED, f"{verdict.why}; changes {what}")
    return changed


def _may_rise(sentence: Sentence) -> bool:
    return sentence.unit.own and not sentence.has(*_REFUSED) and not phrase("status").search(sentence.text)


def _goes_back_on(sentence: Sentence, earlier: Sentence) -> bool:
    return sentence.has("replace") and replaces(sentence.text, earlier.text, told=True)


def _speaks_of(sentence: Sentence, memory: Memory) -> bool:
    now = memory.now
    if now.valid_from >= sentence.message.timestamp:
        return False
    if sentence.has("repeat") and now.kind == "preference":
        said = phrase("again").sub(" ", sentence.text)
        return likeness(said, now.text) >= SAID_AGAIN
    return sentence.has("replace") and replaces(sentence.text, now.text, told=True)
