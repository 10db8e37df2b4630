"""What is told of the reasons is true, in both languages."""

from __future__ import annotations

from catmem.recall.why import explained

PLAIN = {
    "relevance": 0.5, "bm25": 1.0, "akin": 0.0, "alike": 0.0, "recency": 1.0, "timely": 1.0, "confirmations": 1.0, "pinned": 0.0,
    "folded": 0.0,
}  # fmt: skip


def test_what_made_no_difference_is_left_out() -> None:
    assert explained(PLAIN, "en") == "relevant to the query: 50%; weight of its words (BM25): 1.00"
    assert explained(PLAIN, "zh") == "与查询的相关度 50%；词的分量（BM25）1.00"


def test_what_made_one_is_told_in_numbers() -> None:
    more = {**PLAIN, "akin": 0.9, "alike": 0.42, "recency": 0.79, "timely": 1.3, "confirmations": 3.0}
    told = explained(more, "en")
    for number in ("90%", "alike in meaning: 0.42", "79%", "x 1.30", "sessions that said it: 3"):
        assert number in told
    assert "相近程度 0.42" in explained(more, "zh") and "说过它的会话数 3" in explained(more, "zh")


def test_a_number_without_a_name_is_told_by_its_own() -> None:
    assert explained({**PLAIN, "likeness": 0.25}, "en").endswith("; likeness 0.25")
