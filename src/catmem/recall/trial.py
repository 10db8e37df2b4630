"""How well a set of questions finds its answers: the measures, over whatever finds them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

from catmem.domain.errors import BadInput, NotFound

DEPTH = 10


class Document(NamedTuple):
    """A text to be found; `time` is a stamp, or "" for one that has none."""

    id: str
    text: str
    time: str


class Question(NamedTuple):
    """`gold` are the ids of the documents that answer it; none for one that nothing answers."""

    query: str
    gold: frozenset[str]


class Scores(TypedDict):
    """Shares of the questions that have an answer, in percent; `auroc` None unless some have and some have not.

    `auroc` is the chance that the best hit of a question with an answer scores above that of one without.
    """

    documents: int
    questions: int
    unanswerable: int
    hit_at_1: float
    hit_at_10: float
    ndcg_at_10: float
    auroc: float | None


def read_set(path: Path) -> tuple[list[Document], list[Question]]:
    """JSONL: documents are {"id", "text", "time" if known}, questions {"query", "gold": [ids]}. Raises BadInput, NotFound."""
    documents: list[Document] = []
    questions: list[Question] = []
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}", f"没有文件 {path}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read {path}: {error}", f"无法读取 {path}：{error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if "query" in row:
                questions.append(Question(str(row["query"]), frozenset(map(str, row["gold"]))))
            else:
                documents.append(Document(str(row["id"]), str(row["text"]), str(row.get("time", ""))))
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(
                f'line {number} of {path} is neither {{"id","text"}} nor {{"query","gold"}}',
                f'{path} 第 {number} 行既不是 {{"id","text"}}，也不是 {{"query","gold"}}',
            ) from error
    if not documents or not questions:
        raise BadInput(f"{path} needs documents and questions", f"{path} 须既有文档又有问题")
    return documents, questions


def measure(
    documents: Sequence[Document], questions: Iterable[Question], search: Callable[[str], Sequence[tuple[str, float]]]
) -> Scores:
    """`search` gives the ids of a query with their scores, best first."""
    firsts, tens, gains = [], [], []
    best: dict[bool, list[float]] = {True: [], False: []}
    for question in questions:
        found = search(question.query)[:DEPTH]
        best[bool(question.gold)].append(found[0][1] if found else 0.0)
        if question.gold:
            right = [id in question.gold for id, _ in found]
            firsts.append(any(right[:1]))
            tens.append(any(right))
            gains.append(_gain(right) / _gain([True] * min(len(question.gold), DEPTH)))
    return Scores(
        documents=len(documents),
        questions=len(firsts) + len(best[False]),
        unanswerable=len(best[False]),
        hit_at_1=_percent(firsts),
        hit_at_10=_percent(tens),
        ndcg_at_10=_percent(gains),
        auroc=_above(best[True], best[False]),
    )


def _gain(right: Sequence[bool]) -> float:
    return sum(1 / math.log2(place + 2) for place, is_right in enumerate(right) if is_right)


def _percent(values: Sequence[float]) -> float:
    return round(100 * sum(values) / len(values), 1) if values else 0.0


def _above(answerable: Sequence[float], unanswerable: Sequence[float]) -> float | None:
    pairs = [(one > other) + (one == other) / 2 for one in answerable for other in unanswerable]
    return _percent(pairs) if pairs else None
