"""One session put to a model, window by window: strictly, then once more with what was wrong, then without it.

A window that cannot be answered is halved until what a model chokes on is found; that is parked, and the rest is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from catmem.distil.judge import Verdict
from catmem.distil.model.answer import Answer, BadAnswer, read_answer
from catmem.distil.model.instructions import asked_again, instruction
from catmem.distil.model.proposals import MOST_DEATHS, Proposal, key_of
from catmem.distil.model.schema import most_tokens, schema_of
from catmem.distil.model.selection import Selection
from catmem.distil.model.trust import NOTHING_SHOWN, Showing
from catmem.distil.model.windows import Window, halves
from catmem.llm.port import Completion, Failure, Model, Turn
from catmem.text.cut import cut_tokens, estimate_tokens

# Of a bad answer so much is shown again; a loop is bad from its beginning.
_SHOWN_AGAIN = 200

Redact = Callable[[str], str]
Park = Callable[[Window, str, str, str], None]
"""Called as park(window, fault, reasons, raw)."""
Note = Callable[[str, Sequence[str], Showing], float]
"""Called as note(question, faults, showing) with what came of an answer (see Record.note); tells what the model's word weighs."""


class Asking:
    """The questions about one session. `tokens` is what they have cost, by the server's count or by our estimate."""

    def __init__(
        self,
        model: Model,
        proposal: Proposal,
        verdicts: Mapping[int, Verdict],
        *,
        save: Callable[[], None],
        redact: Redact,
        note: Note,
        park: Park,
    ) -> None:
        self._model = model
        self._proposal = proposal
        self._verdicts = verdicts
        self._save = save
        self._redact = redact
        self._note = note
        self._park = park
        self.tokens = 0

    def window(self, window: Window) -> tuple[list[Selection], bool]:
        """What was selected in a window, in pieces where it had to be halved; and whether all of it was answered.

        Raises Failure if the model cannot be asked.
        """
        try:
            return [self._strictly(window, again=True)], True
        except BadAnswer as bad:
            found = self._halved(halves(window, self._verdicts))
            if found is None:
                self._give_up(window, bad)
            return found or [], False

    def _halved(self, parts: Sequence[Window]) -> list[Selection] | None:
        """Each part is asked once; where one cannot be answered, it is halved again. None if neither can: it is not the
        talk that the model chokes on."""
        found: list[Selection] = []
        bad: list[tuple[Window, BadAnswer]] = []
        for part in parts:
            try:
                found.append(self._strictly(part, again=False))
            except BadAnswer as error:
                bad.append((part, error))
        if not found and len(bad) != 1:
            return None
        for part, why in bad:
            inner = self._halved(halves(part, self._verdicts))
            if inner is None:
                self._give_up(part, why)
            found.extend(inner or [])
        return found

    def _strictly(self, window: Window, *, again: bool) -> Selection:
        """The answer to a window; where it is bad, one more try with what was wrong. Raises BadAnswer and Failure."""
        system = instruction(self._proposal.trigger, window.language)
        turns = [Turn("user", "\n".join(self._redact(line) for line in window.text.split("\n")))]
        completion = self._completed(system, turns, window)
        try:
            return self._read(key_of(system, turns), completion, window)
        except BadAnswer as bad:
            if not again:
                raise
            said = cut_tokens(completion.text, _SHOWN_AGAIN).strip() or "…"
            turns += [Turn("assistant", said), Turn("user", asked_again(bad.reasons, window.language))]
            return self._read(key_of(system, turns), self._completed(system, turns, window), window)

    def _read(self, question: str, completion: Completion, window: Window) -> Selection:
        try:
            answer: Answer = read_answer(completion, window)
        except BadAnswer as bad:
            self._note(question, [bad.fault], NOTHING_SHOWN)
            bad.raw = completion.text
            raise
        return replace(answer.selection, weight=self._note(question, answer.faults, answer.showing))

    def _completed(self, system: str, turns: Sequence[Turn], window: Window) -> Completion:
        """The answer to a question, once and for all: what was answered before is not asked again."""
        key, proposal = key_of(system, turns), self._proposal
        if key in proposal.answers:
            return proposal.answers[key]
        if proposal.asked.get(key, 0) >= MOST_DEATHS:
            self._note(f"{key} killed", ["killed"], NOTHING_SHOWN)
            raise BadAnswer("empty", "whoever asked this was ended before there was an answer")
        proposal.asked[key] = proposal.asked.get(key, 0) + 1
        self._save()
        sentences = len(window.sentences)
        schema = schema_of(sentences)
        try:
            completion = self._model.complete([system], turns, schema, max_tokens=most_tokens(sentences))
        except Failure:
            del proposal.asked[key]
            raise
        self.tokens += _cost(system, turns, completion)
        completion = replace(completion, text=self._redact(completion.text))
        proposal.answers[key] = completion
        del proposal.asked[key]
        self._save()
        return completion

    def _give_up(self, window: Window, bad: BadAnswer) -> None:
        self._park(window, bad.fault, "; ".join(bad.reasons), bad.raw)


def _cost(system: str, turns: Sequence[Turn], completion: Completion) -> int:
    asked = completion.input_tokens or estimate_tokens(system) + sum(estimate_tokens(turn.text) for turn in turns)
    return asked + (completion.output_tokens or estimate_tokens(completion.text))
