"""A session as the model sees it: windows of numbered sentences that overlap.

Only what the model's word can count for is shown: the user's own sentences, and of the assistant what was asked or
proposed. A window in which nothing hangs on the model is not shown at all, so that most talk costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from catmem.distil.judge import Verdict
from catmem.distil.model.combine import liftable
from catmem.distil.model.instructions import Language, language_of
from catmem.distil.model.trust import LEAST
from catmem.distil.transcript import Sentence
from catmem.text.cut import cut_tokens, estimate_tokens

# With the instruction, the answer and a second try this is well within the 4,096 tokens of a small local model.
WINDOW_TOKENS = 1_100
# So much of the end of a window is shown again in the next: about five turns, since most words that take something
# back or answer something come within three.
OVERLAP_TOKENS = 150
# A sentence of less confidence is worth no question of its own: one in ten of them is worth keeping. If the window is
# asked about for the sake of another, it is heard on this one, too.
_ASKED = 0.2
# A run-on sentence; its beginning says what it is about.
_LONGEST_SENTENCE = 160
# Of the assistant: what a "yes" or a short answer refers to, and not more.
_MOST_PROPOSED, _LONGEST_PROPOSED, _LONGEST_REPLY = 2, 40, 16


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a window. `sentence` is None for the assistant's."""

    text: str
    tokens: int
    sentence: Sentence | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Lines in their order; the numbers that the model sees run from 1 in each window.

    kept       the model's numbers of sentences that the rules keep
    hopeless   those of sentences that no rule and no score speaks for: who selects them guesses. One that a rule refuses
               although the classifier likes it is neither: who selects that errs and does not guess.
    """

    lines: tuple[Line, ...]
    language: Language
    kept: frozenset[int]
    hopeless: frozenset[int]

    @property
    def sentences(self) -> list[Sentence]:
        """The sentence that the model knows as n stands at n - 1."""
        return [line.sentence for line in self.lines if line.sentence]

    @property
    def text(self) -> str:
        shown, number = [], 0
        for line in self.lines:
            number += line.sentence is not None
            shown.append(f"{number}. {line.text}" if line.sentence else f"A: {line.text}")
        return "\n".join(shown)


def windows_of(
    sentences: Sequence[Sentence], verdicts: Mapping[int, Verdict], first_id: int, tokens: int = WINDOW_TOKENS
) -> list[Window]:
    """The windows of what was said from the message `first_id` on that the model is asked about."""
    lines = list(_lines(sentences, first_id))
    return [window for part in _parts(lines, tokens) if (window := _window(part, verdicts))]


def halves(window: Window, verdicts: Mapping[int, Verdict]) -> list[Window]:
    """A window in two, to find what in it a model chokes on; [] if it is one sentence."""
    if len(window.sentences) < 2:
        return []
    middle = window.sentences[len(window.sentences) // 2]
    place = next(n for n, line in enumerate(window.lines) if line.sentence is middle)
    return [half for part in (window.lines[:place], window.lines[place:]) if (half := _window(part, verdicts))]


def _lines(sentences: Sequence[Sentence], first_id: int) -> Iterator[Line]:
    for message, said in groupby(sentences, key=lambda s: s.message):
        if message.id < first_id:
            continue
        own = [s for s in said if s.unit.own]
        if message.role == "user":
            for sentence in own:
                if not sentence.has("refuse-chat"):
                    yield _line(sentence.text, _LONGEST_SENTENCE, sentence)
        else:
            yield from _of_assistant(own)


def _of_assistant(own: Sequence[Sentence]) -> Iterator[Line]:
    proposed = [s for s in own if s.has("proposal") or s.text.endswith(("?", "？"))]
    for sentence in proposed[-_MOST_PROPOSED:]:
        yield _line(sentence.text, _LONGEST_PROPOSED)
    if own and not proposed:
        yield _line(own[0].text, _LONGEST_REPLY)


def _line(text: str, limit: int, sentence: Sentence | None = None) -> Line:
    flat = " ".join(text.split())
    short = cut_tokens(flat, limit)
    shown = flat if short == flat else f"{short}…"
    return Line(shown, estimate_tokens(shown) + 2, sentence)


def _parts(lines: Sequence[Line], limit: int) -> Iterator[tuple[Line, ...]]:
    part: list[Line] = []
    size = fresh = 0
    for line in lines:
        if fresh and size + line.tokens > limit:
            yield tuple(part)
            part, size = _tail(part)
            fresh = 0
        part.append(line)
        size += line.tokens
        fresh += line.sentence is not None
    if fresh:
        yield tuple(part)


def _tail(part: Sequence[Line]) -> tuple[list[Line], int]:
    tail: list[Line] = []
    size = 0
    for line in reversed(part):
        if size + line.tokens > OVERLAP_TOKENS:
            break
        tail.insert(0, line)
        size += line.tokens
    return tail, size


def _window(lines: tuple[Line, ...], verdicts: Mapping[int, Verdict]) -> Window | None:
    """None where nothing hangs on what the model says."""
    sentences = [line.sentence for line in lines if line.sentence]
    if not any(_is_worth_asking(s, verdicts[s.number]) for s in sentences):
        return None
    numbered = [(n, verdicts[s.number]) for n, s in enumerate(sentences, 1)]
    kept = frozenset(n for n, verdict in numbered if verdict.kept)
    hopeless = frozenset(n for n, verdict in numbered if verdict.confidence < LEAST)
    return Window(lines, language_of([s.text for s in sentences]), kept, hopeless)


def _is_worth_asking(sentence: Sentence, verdict: Verdict) -> bool:
    return verdict.kept or (verdict.confidence >= _ASKED and liftable(sentence, verdict))
