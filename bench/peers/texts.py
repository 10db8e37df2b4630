"""1,000 texts and 50 questions in both languages: half of each from the Chinese and the English part of LifeBench.

LifeBench (Apache-2.0) is a year of a person's telephone; its questions name the records that answer them. A fixed draw:
questions with few answers, all their answers, and other records of the same person beside them.
"""

from __future__ import annotations

import importlib.util
import random
import sys
from pathlib import Path
from typing import Any, NamedTuple

TEXTS, QUESTIONS = 1_000, 50
LANGUAGES = ("zh", "en")
# A question with a hundred answers is found by chance.
_MOST_ANSWERS = 5


class Question(NamedTuple):
    text: str
    gold: frozenset[str]
    language: str


def drawn(folder: Path, seed: int = 7) -> tuple[list[dict[str, Any]], list[Question]]:
    """Texts of {"id", "text", "time"} and questions, from a folder with sets.py and its data."""
    sets = _loaded(folder / "sets.py")
    chance = random.Random(seed)
    texts: list[dict[str, Any]] = []
    questions: list[Question] = []
    for language in LANGUAGES:
        person = next(iter(sets.lifebench(lang=language)))
        few = [q for q in person["queries"] if 0 < len(q["gold"]) <= _MOST_ANSWERS]
        asked = chance.sample(few, QUESTIONS // len(LANGUAGES))
        wanted = set().union(*(q["gold"] for q in asked))
        # Twins would leave the answer to chance: of the same words only one is there.
        unique = {doc["text"]: doc for doc in sorted(person["docs"], key=lambda doc: doc["id"] not in wanted)}
        docs = list(unique.values())
        others = [doc for doc in docs if doc["id"] not in wanted]
        taken = [doc for doc in docs if doc["id"] in wanted]
        taken += chance.sample(others, TEXTS // len(LANGUAGES) - len(taken))
        names = {doc["id"]: f"{language}{number:04d}" for number, doc in enumerate(taken)}
        texts += [{"id": names[d["id"]], "text": d["text"], "time": _stamp(d["time"])} for d in taken]
        questions += [
            Question(q["q"], frozenset(names[id] for id in q["gold"] if id in names), language) for q in asked
        ]
    chance.shuffle(texts)
    return texts, questions


def _stamp(time: str | None) -> str:
    from bench.retriever import seconds
    from catmem.domain.clock import stamp

    return stamp(seconds(time))


def _loaded(path: Path) -> Any:
    # It imports its neighbours by their bare names.
    sys.path.insert(0, str(path.parent))
    spec = importlib.util.spec_from_file_location("sets", path)
    if spec is None or spec.loader is None or not path.exists():
        sys.exit(f"{path} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
