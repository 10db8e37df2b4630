"""The measure of extraction on the training corpus, by cross-validation: no chat is judged by a model that has seen it.

    python bench/corpus_chats.py [--failures] [--weigh]

Each chat runs whole through distilling without a model, session by session. A live memory is right if its words are
those of a line labelled as worth keeping (or of a proposal that the user accepted); a line is found if a live memory has
its words. `--weigh` prints what a regression on the corpus would give each effect of the rules, beside the classifier's
score, next to the weight in use. Needs the dependency group `train`.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "training"), str(Path(__file__).parent)]

import numpy as np  # noqa: E402
import train  # noqa: E402
from corpus import Chat, Line, message_text, read_chats  # noqa: E402
from extraction import Memories, run_case  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GroupKFold  # noqa: E402

from catmem.distil.classifier import KEPT, Classifier, from_record  # noqa: E402
from catmem.distil.judge import WEIGHTS  # noqa: E402
from catmem.distil.rulebook import load_rulebook  # noqa: E402
from catmem.distil.transcript import read_sentences  # noqa: E402
from catmem.domain.memory import normal  # noqa: E402
from catmem.domain.message import Message  # noqa: E402

DAY_ONE = datetime(2026, 1, 5, 10, tzinfo=UTC)
BETWEEN_SESSIONS = timedelta(days=30)


@dataclass(slots=True)
class Score:
    """Counts over chats. `leaks` are wrong memories by the label of the line they came from."""

    expected: int = 0
    found: int = 0
    live: int = 0
    right: int = 0
    kind_right: int = 0
    quiet: int = 0
    quiet_clean: int = 0
    replaced: int = 0
    replaced_right: int = 0
    leaks: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def row(self, name: str) -> str:
        recall = self.found / self.expected if self.expected else 0.0
        precision = self.right / self.live if self.live else 0.0
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return (
            f"{name:<8} precision {precision:6.1%}  recall {recall:6.1%}  F1 {f1:6.1%}  kind {_share(self.kind_right, self.found)}"
            f"  chats without a keeper clean {_share(self.quiet_clean, self.quiet)}  replaced {_share(self.replaced_right, self.replaced)}"
        )


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole}" + (f" {part / whole:.0%}" if whole else "")


def fold_models() -> list[tuple[frozenset[int], Classifier]]:
    """For each fold the numbers of its chats, and the model trained on all others, as it would be shipped."""
    data = train.prepare()
    temperature = train.calibrated(data, *train.cross_validated(data))
    models = []
    folds = GroupKFold(train.FOLDS, shuffle=True, random_state=1)
    for seen, unseen in folds.split(data.rows, data.labels, data.chats):
        columns = train.columns_of(data, seen)
        model = train.fitted(data, seen, columns)
        whole, step = train.pruned(model.coef_.T)
        rows: list[int] = []
        for place in columns.values():
            pairs = [int(v) for c in whole[place].nonzero()[0] for v in (c, whole[place, c])]
            rows.extend([len(pairs) // 2, *pairs])
        record = {
            "classes": [str(label) for label in model.classes_],
            "bias": [float(b) for b in model.intercept_],
            "step": step,
            "temperature": temperature,
            "common": sorted(data.vocabulary.common),
            "features": list(columns),
            "rows": rows,
        }
        models.append((frozenset(int(c) for c in data.chats[unseen]), from_record(record)))
    return models


def case_of(chat: Chat) -> dict[str, Any]:
    """A chat in the form of a case of extraction.py."""
    sessions = []
    for number, session in enumerate(chat.sessions):
        messages = [{"role": said.role, "content": message_text(said)[0]} for said in session]
        at = (DAY_ONE + number * BETWEEN_SESSIONS).strftime("%Y-%m-%dT%H:%M:%SZ")
        sessions.append({"id": f"s{number + 1}", "at": at, "messages": messages})
    return {"project": chat.name, "sessions": sessions}


def score_chat(score: Score, chat: Chat, memories: Memories) -> None:
    lines = [line for session in chat.sessions for said in session for line in said.lines]
    olds = list(_replaced(chat))
    gone = {id(line) for line, _ in olds}
    keepers = [line for line in lines if line.label in KEPT and id(line) not in gone]
    live = [(normal(m.now.text), m) for m in memories.live()]
    score.expected += len(keepers)
    score.live += len(live)
    for line in keepers:
        hits = [m for text, m in live if _overlap(text, line)]
        score.found += bool(hits)
        score.kind_right += any(m.now.kind == line.label for m in hits)
        if not hits:
            score.missed[line.label] += 1
            score.notes.append(f"missed  {line.label:<12}{line.text}")
    for text, memory in live:
        sources = [line for line in lines if _overlap(text, line)]
        right = any(id(line) in {id(k) for k in keepers} for line in sources)
        score.right += right
        if not right:
            label = sources[0].label if sources else "?"
            score.leaks[label] += 1
            score.notes.append(f"leaked  {label:<12}{memory.now.kind} {memory.now.confidence:.2f}  {memory.now.text}")
    for line, successor in olds:
        standing = any(_overlap(text, line) for text, _ in live)
        score.replaced += 1
        score.replaced_right += not standing
        if standing:
            score.notes.append(f"stands  {line.text}   ->   {successor.text}")
    if not keepers and not olds:
        score.quiet += 1
        score.quiet_clean += not live


def _replaced(chat: Chat) -> Iterator[tuple[Line, Line]]:
    """Lines of earlier sessions that a later one replaces, by the old name that its tag gives, with that later line."""
    earlier: list[Line] = []
    for session in chat.sessions:
        lines = [line for said in session for line in said.lines]
        for line in lines:
            if line.old:
                named = [k for k in earlier if k.label in KEPT and normal(line.old) in normal(k.text)]
                yield from ((k, line) for k in named[:1])
        earlier.extend(lines)


def _overlap(text: str, line: Line) -> bool:
    whole = normal(line.text)
    return len(whole) > 1 and (text in whole or whole in text)


def weigh(chats: list[Chat], models: list[tuple[frozenset[int], Classifier]]) -> None:
    """Each effect: how often it occurs, how often such a sentence is worth keeping, its fitted weight, the one in use."""
    sentences: list[tuple[float, set[str], bool]] = []
    for numbers, model in models:
        for number in sorted(numbers):
            sentences.extend(_weighed(chats[number], model))
    effects = sorted({effect for _, found, _ in sentences for effect in found})
    table = np.array([[odds, *(effect in found for effect in effects)] for odds, found, _ in sentences], float)
    kept = np.array([keep for _, _, keep in sentences])
    model = LogisticRegression(C=0.5, max_iter=3000).fit(table, kept)
    print(f"slope {model.coef_[0][0]:.2f}  shift {model.intercept_[0]:.2f}")
    for place, effect in enumerate(effects, 1):
        with_it = table[:, place] > 0
        print(
            f"{effect:<22} n {with_it.sum():>4}  keep {kept[with_it].mean():.2f}  fit {model.coef_[0][place]:+.2f}"
            f"  in use {WEIGHTS.get(effect, 0.0):+.1f}"
        )


def _weighed(chat: Chat, model: Classifier) -> Iterator[tuple[float, set[str], bool]]:
    for number, session in enumerate(case_of(chat)["sessions"]):
        messages = [
            Message(m["role"], m["content"], session["at"], str(place), place)
            for place, m in enumerate(session["messages"], 1)
        ]
        lines = [line for said in chat.sessions[number] for line in said.lines]
        for sentence in read_sentences(messages, load_rulebook(), model):
            if sentence.by_user and sentence.unit.own:
                worth = min(max(sum(sentence.scores[label] for label in KEPT), 1e-6), 1 - 1e-6)
                keep = any(line.label in KEPT and _overlap(normal(sentence.text), line) for line in lines)
                yield float(np.log(worth / (1 - worth))), set(sentence.effects), keep


def main() -> None:
    chats = read_chats()
    scores = {name: Score() for name in ("en", "zh", "mix", "all")}
    models = fold_models()
    for numbers, model in models:
        for number in sorted(numbers):
            chat = chats[number]
            memories = run_case(case_of(chat), model)
            for name in (chat.language, "all"):
                score_chat(scores[name], chat, memories)
    for name, score in scores.items():
        print(score.row(name))
    print("wrong by label ", dict(scores["all"].leaks.most_common()))
    print("missed by kind ", dict(scores["all"].missed.most_common()))
    if "--weigh" in sys.argv[1:]:
        weigh(chats, models)
    if "--failures" in sys.argv[1:]:
        print("\n".join(sorted(scores["all"].notes)))


if __name__ == "__main__":
    main()
