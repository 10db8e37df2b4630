"""What the rules leave in doubt, and what models make of it, on the training corpus by cross-validation.

    python -m bench.doubt                       what the rules leave in doubt, by their confidence
    python -m bench.doubt --played [CHATS]      models that are played: one that answers from the labels, and guessers
    python -m bench.doubt --real BASE_URL [SECONDS]    a real one on this machine (OpenAI-compatible)

The labelled set of bench.with_models was looked at while the rules were made, so little is in doubt there. Here no chat is
judged by a classifier that has seen it, which is nearer to what a new user brings. A model is asked as the worker asks it,
one session after the other, and earns its weight on the way. Needs the dependency group `train`.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "training"), str(Path(__file__).parent)]

from corpus import Chat, read_chats  # noqa: E402

from bench.corpus_chats import Score, case_of, fold_models, score_chat  # noqa: E402
from bench.extraction import KEY, run_case  # noqa: E402
from bench.playing import BAD, _form, _shown  # noqa: E402
from catmem.distil.classifier import KEPT, Classifier  # noqa: E402
from catmem.distil.distiller import judged  # noqa: E402
from catmem.distil.model.combine import liftable  # noqa: E402
from catmem.distil.model.proposals import Proposals  # noqa: E402
from catmem.distil.model.record import Record  # noqa: E402
from catmem.distil.model.selector import Heard, Selector  # noqa: E402
from catmem.distil.model.trust import weight_of  # noqa: E402
from catmem.distil.transcript import Sentence  # noqa: E402
from catmem.domain.memory import normal  # noqa: E402
from catmem.domain.session import SessionRef  # noqa: E402
from catmem.llm.misbehaving import WRONG  # noqa: E402
from catmem.llm.port import Model  # noqa: E402
from catmem.llm.scripted import Answer, Answerer, Asked, ScriptedModel  # noqa: E402
from catmem.settings.paths import Paths  # noqa: E402
from catmem.text.secrets.redact import redact  # noqa: E402

STEP = 0.1
# A fifth of the corpus tells enough of a dozen models.
CHATS = 250

Judged = tuple[Chat, Classifier]


@dataclass(slots=True)
class Doubt:
    """Counts of sentences in doubt by the step of their confidence: all, worth keeping, selected, and both."""

    all: Counter[float] = field(default_factory=Counter)
    worth: Counter[float] = field(default_factory=Counter)
    selected: Counter[float] = field(default_factory=Counter)
    right: Counter[float] = field(default_factory=Counter)

    def see(self, confidence: float, worth: bool, selected: bool) -> None:
        step = round(int(confidence / STEP) * STEP, 2)
        self.all[step] += 1
        self.worth[step] += worth
        self.selected[step] += selected
        self.right[step] += worth and selected

    def table(self) -> str:
        rows = [f"{'in doubt':<12}{'all':>7}{'worth':>7}{'selected':>10}{'of them worth':>15}"]
        rows += [
            f"  from {step:.1f}  {self.all[step]:>7}{self.worth[step]:>7}{self.selected[step]:>10}{self.right[step]:>15}"
            for step in sorted(self.all)
        ]
        return "\n".join(rows)


class Asking:
    """A model that is asked about chats as the worker does it; what it earns lasts from one to the next."""

    def __init__(self, model_of: Callable[[Chat], Model | None], folder: Path) -> None:
        self.doubt, self.score, self.tokens = Doubt(), Score(), 0
        self._model_of, self._model = model_of, None
        self.record = Record(Paths(folder))
        self._selector = Selector(
            lambda: self._model, Proposals(Paths(folder)), self.record, redact=lambda text: redact(text, KEY)
        )

    def hear(self, chat: Chat, classifier: Classifier) -> None:
        self._model, self._lines = self._model_of(chat), lines_of(chat)
        score_chat(self.score, chat, run_case(case_of(chat), classifier, self._select))

    def _select(self, ref: SessionRef, sentences: Sequence[Sentence]) -> Heard:
        verdicts = judged(sentences)
        last = sentences[-1].message.id if sentences else 0
        heard = self._selector.select(ref, sentences, verdicts, 1, last, "end")
        self._selector.settled(ref)
        self.tokens += heard.tokens
        for sentence in sentences:
            verdict = verdicts.get(sentence.number)
            if verdict and liftable(sentence, verdict):
                worth = bool(label_of(sentence.text, self._lines))
                self.doubt.see(verdict.confidence, worth, sentence.number in heard.selection.picks)
        return heard

    def row(self, name: str) -> str:
        weight = weight_of(self.record.showings())
        faults = ", ".join(f"{fault} {count}" for fault, count in list(self.record.counts().items())[:3])
        return f"{self.score.row(name)}  weight {weight:.1f}  {faults}"


def lines_of(chat: Chat) -> list[tuple[str, str]]:
    """The lines worth keeping and their kinds."""
    lines = [line for session in chat.sessions for said in session for line in said.lines if line.label in KEPT]
    return [(line.text, line.label) for line in lines]


def label_of(text: str, lines: Iterable[tuple[str, str]]) -> str:
    """The kind of the line worth keeping that a sentence is, or is part of."""
    said = normal(text)
    for line, label in lines:
        whole = normal(line)
        if len(whole) > 1 and (said in whole or whole in said):
            return label
    return ""


def from_labels(chat: Chat) -> Answerer:
    lines = lines_of(chat)

    def answer(asked: Asked) -> Answer:
        labels = {number: label_of(text, lines) for number, text in _shown(asked).items()}
        return _form({number: label for number, label in labels.items() if label})

    return answer


def main() -> None:
    chats = read_chats()
    of_chat = {number: one for numbers, one in fold_models() for number in numbers}
    order = list(of_chat)
    random.Random(5).shuffle(order)
    told: list[Judged] = [(chats[number], of_chat[number]) for number in order]
    alone = Score()
    options = sys.argv[1:]
    if options[:1] == ["--real"]:
        _real(told, options[1], float(options[2]) if len(options) > 2 else 1800.0)
    elif options[:1] == ["--played"]:
        _played(told[: int(options[1]) if len(options) > 1 else CHATS])
    else:
        for chat, classifier in told:
            score_chat(alone, chat, run_case(case_of(chat), classifier))
        print(alone.row("rules"))
        with tempfile.TemporaryDirectory() as folder:
            nobody = Asking(lambda chat: None, Path(folder))
            for chat, classifier in told:
                nobody.hear(chat, classifier)
        print(nobody.doubt.table())


def _played(told: Sequence[Judged]) -> None:
    print(_alone(told).row("rules"))
    guessers = {name: spoilt for name, spoilt in BAD.items() if name not in WRONG}
    for name, spoilt in {"good": lambda right: right, **guessers}.items():
        with tempfile.TemporaryDirectory() as folder:
            asking = Asking(lambda chat, spoilt=spoilt: ScriptedModel(spoilt(from_labels(chat))), Path(folder))
            for chat, classifier in told:
                asking.hear(chat, classifier)
            print(asking.row(name), flush=True)


def _real(told: Sequence[Judged], url: str, seconds: float) -> None:
    from catmem.llm.openai import make

    model = make({"model": "local", "base_url": url, "api": "openai"}, {})
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        asking = Asking(lambda chat: model, Path(folder))
        for done, (chat, classifier) in enumerate(told, 1):
            asking.hear(chat, classifier)
            if done % 25 == 0 or time.monotonic() > until:
                print(f"{done} chats, {asking.tokens} tokens")
                print(asking.doubt.table())
                print(_alone(told[:done]).row("rules"))
                print(asking.row("with it"), flush=True)
            if time.monotonic() > until:
                break


def _alone(told: Sequence[Judged]) -> Score:
    score = Score()
    for chat, classifier in told:
        score_chat(score, chat, run_case(case_of(chat), classifier))
    return score


if __name__ == "__main__":
    main()
