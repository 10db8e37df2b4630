"""The model's part in distilling a session, bounded: it is asked, or it is done without, and either is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass

from catmem.distil.judge import Verdict
from catmem.distil.model.asking import Asking, Redact
from catmem.distil.model.instructions import Trigger
from catmem.distil.model.proposals import Proposal, Proposals
from catmem.distil.model.record import ParkedAnswer, Record
from catmem.distil.model.selection import NOTHING, Outcome, Selection, united
from catmem.distil.model.trust import Showing, weight_of
from catmem.distil.model.windows import Window, windows_of
from catmem.distil.transcript import Sentence
from catmem.domain.clock import Clock, now, system_clock
from catmem.domain.session import SessionRef
from catmem.llm.port import Failure, Model
from catmem.settings.paths import Paths
from catmem.text.secrets.redact import redact

# A model that fails in one of these ways will fail the next session just so, or make it wait as long.
_LASTING = frozenset({"401", "404", "setup", "spent", "unreachable", "timeout", "hang"})
# Any other failure may be chance, but not so often in a row.
_MOST_IN_A_ROW = 3


@dataclass(frozen=True, slots=True)
class Heard:
    """What was selected, whether a model had a part in it, and what that cost."""

    selection: Selection = NOTHING
    outcome: Outcome = "rules"
    tokens: int = 0


def selector_of(paths: Paths, model: Callable[[], Model | None], key: bytes, clock: Clock) -> Selector:
    """What asks the model of a data directory. Whatever the settings say of what is kept there, no secret leaves it:
    `key` is that of the redactor."""
    return Selector(model, Proposals(paths), Record(paths), redact=lambda text: redact(text, key), clock=clock)


class Selector:
    """Asks the model about sessions, one after the other, until it has shown that there is no use in it.

    `model` gives None where none is configured; it may raise Failure.
    """

    def __init__(
        self,
        model: Callable[[], Model | None],
        proposals: Proposals,
        record: Record,
        *,
        redact: Redact,
        clock: Clock = system_clock,
    ) -> None:
        self._model = model
        self._proposals = proposals
        self.record = record
        self._redact = redact
        self._clock = clock
        self._failed_in_a_row = 0
        self._why = ""

    def begun(self, ref: SessionRef, first_id: int) -> Proposal | None:
        """What was asked about the messages from `first_id` on before a worker was killed."""
        return self._proposals.begun(ref, first_id)

    def select(
        self,
        ref: SessionRef,
        sentences: Sequence[Sentence],
        verdicts: Mapping[int, Verdict],
        first_id: int,
        last_id: int,
        trigger: Trigger,
    ) -> Heard:
        """What the model selects of the messages `first_id` to `last_id`; nothing where it fails. Raises StorageFailed.

        A session that it failed for is noted before it is settled without it: a kill in between costs a second look.
        """
        heard = self._heard(ref, sentences, verdicts, first_id, last_id, trigger)
        if heard.outcome == "degraded":
            self.record.miss(ref, self._why)
        return heard

    def _heard(
        self,
        ref: SessionRef,
        sentences: Sequence[Sentence],
        verdicts: Mapping[int, Verdict],
        first_id: int,
        last_id: int,
        trigger: Trigger,
    ) -> Heard:
        try:
            model = self._model()
        except Failure as failure:
            self._failed(failure)
            return Heard(outcome="degraded")
        if model is None:
            return Heard()
        begun = self.begun(ref, first_id)
        windows = windows_of(sentences, verdicts, first_id)
        if not windows:
            return Heard(outcome="model")
        if self.has_given_up() and not begun:
            return Heard(outcome="degraded")
        proposal = begun or Proposal(first_id, last_id, trigger)
        return self._asked(self._asking(model, ref, proposal, verdicts), windows)

    def asks(self) -> bool:
        """Whether there is a model to ask."""
        try:
            return self._model() is not None
        except Failure:
            return False

    def has_given_up(self) -> bool:
        """Whether there is no use in asking any more in this run."""
        return self._failed_in_a_row >= _MOST_IN_A_ROW

    def tidy(self, waiting: Set[SessionRef]) -> None:
        """Drops what killed workers left of sessions that do not wait any more."""
        self._proposals.tidy(waiting)
        self.record.tidy(waiting)

    def settled(self, ref: SessionRef) -> None:
        """What was heard of a session has been committed."""
        self._proposals.settled(ref)
        self.record.settled(ref)

    def _asking(self, model: Model, ref: SessionRef, proposal: Proposal, verdicts: Mapping[int, Verdict]) -> Asking:
        def park(window: Window, fault: str, reasons: str, raw: str) -> None:
            ids = [sentence.message.id for sentence in window.sentences]
            at = now(self._clock)
            self.record.park(ParkedAnswer(ref.project, ref.key, min(ids), max(ids), at, fault, reasons, raw))

        def note(question: str, faults: Sequence[str], showing: Showing) -> float:
            self.record.note(ref, question, faults, showing)
            return weight_of(self.record.showings())

        return Asking(
            model, proposal, verdicts, save=lambda: self._proposals.save(ref, proposal), redact=self._redact,
            note=note, park=park,
        )  # fmt: skip

    def _asked(self, asking: Asking, windows: Sequence[Window]) -> Heard:
        """All windows, unless the model fails or the first one shows that it cannot answer at all."""
        selections: list[Selection] = []
        complete = True
        self._why = ""
        try:
            for window in windows:
                found, whole = asking.window(window)
                selections.extend(found)
                complete = complete and whole
                if not selections:
                    break
        except Failure as failure:
            self._failed(failure)
            return Heard(united(selections), "degraded", asking.tokens)
        self._failed_in_a_row = 0 if selections else self._failed_in_a_row + 1
        if selections:
            self.record.recovered()
        return Heard(united(selections), "model" if complete else "degraded", asking.tokens)

    def _failed(self, failure: Failure) -> None:
        self._why = failure.kind
        self._failed_in_a_row = _MOST_IN_A_ROW if failure.kind in _LASTING else self._failed_in_a_row + 1
        self.record.count(failure.kind)
        if failure.kind == "unreachable" and self.record.last_trouble():
            return  # They rest since then: what began it says more.
        self.record.trouble(failure.kind, failure.en, failure.zh, now(self._clock))
