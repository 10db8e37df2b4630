"""`mem eval retrieval SET`: the product's own index and ranking over a set of one's own."""

from __future__ import annotations

import json

from tests.cli.shell import Shell

ROWS = (
    {"id": "port", "text": "The staging database listens on port 5433", "time": "2026-03-01T10:00:00.000Z"},
    {"id": "deploy", "text": "部署走 Argo CD"},
    {"id": "commits", "text": "Commit messages are in English"},
    {"query": "which port has the staging database", "gold": ["port"]},
    {"query": "how do we deploy", "gold": ["deploy"]},
    {"query": "what is the capital of Portugal", "gold": []},
)


def test_a_set_is_measured_and_nothing_of_it_is_kept(shell: Shell) -> None:
    (shell.folder / "set.jsonl").write_text("\n".join(json.dumps(row) for row in ROWS), "utf-8")
    scores = shell.json("eval", "retrieval", "set.jsonl")
    assert (scores["documents"], scores["questions"], scores["unanswerable"]) == (3, 3, 1)
    assert (scores["hit_at_1"], scores["hit_at_10"], scores["ndcg_at_10"], scores["auroc"]) == (
        100.0,
        100.0,
        100.0,
        100.0,
    )
    assert "hit@1 100.0" in shell.ok("eval", "retrieval", "set.jsonl")
    assert shell.json("sessions") == {"sessions": []}
