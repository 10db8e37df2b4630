"""The measures of `mem eval retrieval`, on rankings of which they are known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from catmem.domain.errors import BadInput, NotFound
from catmem.recall.trial import Document, Question, measure, read_set

DOCUMENTS = [Document(id, f"text {id}", "") for id in "abc"]
FOUND = {"first": [("a", 0.9), ("b", 0.5)], "second": [("b", 0.8), ("a", 0.7)], "none": [("c", 0.85)], "nothing": []}


def scores(*questions: Question):
    return measure(DOCUMENTS, questions, FOUND.__getitem__)


def test_the_first_and_the_first_ten() -> None:
    found = scores(
        Question("first", frozenset("a")), Question("second", frozenset("a")), Question("nothing", frozenset("a"))
    )
    assert (found["hit_at_1"], found["hit_at_10"]) == (33.3, 66.7)
    assert found["ndcg_at_10"] == round(100 * (1 + 0.63093) / 3, 1)
    assert (found["documents"], found["questions"], found["auroc"]) == (3, 3, None)


def test_questions_with_an_answer_against_those_without() -> None:
    found = scores(Question("first", frozenset("a")), Question("second", frozenset("a")), Question("none", frozenset()))
    assert (found["auroc"], found["unanswerable"], found["questions"]) == (50.0, 1, 3)
    assert found["hit_at_10"] == 100.0


def test_a_set_is_read(tmp_path: Path) -> None:
    rows = [{"id": 1, "text": "部署走 Argo CD"}, {"query": "how do we deploy", "gold": [1]}]
    (tmp_path / "set.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")
    assert read_set(tmp_path / "set.jsonl") == (
        [Document("1", "部署走 Argo CD", "")], [Question("how do we deploy", frozenset("1"))],
    )  # fmt: skip


@pytest.mark.parametrize("text", ["", "{", '{"id": 1}', '{"query": "x"}', '{"id": "a", "text": "x"}', "[1]", '"query"'])
def test_what_is_no_set_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "set.jsonl").write_text(text, "utf-8")
    with pytest.raises(BadInput):
        read_set(tmp_path / "set.jsonl")


def test_a_set_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_set(tmp_path / "set.jsonl")
