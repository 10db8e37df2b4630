from __future__ import annotations

import json
from typing import Any

import pytest

from catmem.llm.openai import make_embedder
from catmem.llm.port import Failure
from tests.llm.fake_server import Reply, serving


def embed(reply: Any, texts: list[str], **more: Any) -> tuple[list[list[float]], list[dict[str, Any]]]:
    body = reply if isinstance(reply, Reply) else Reply(raw=f"data: {json.dumps(reply)}\n\n".encode())
    with serving(body) as server:
        row = {"api": "openai", "base_url": server.url, "model": "e"}
        vectors = make_embedder(row, {}).embed(texts, "passage")
    assert {path for path, _, _ in server.requests} <= {"/v1/embeddings"}
    assert all(headers["x-catmem-helper"] == "1" for _, headers, _ in server.requests)
    return vectors, server.bodies


def test_a_vector_for_each_text_in_their_order() -> None:
    rows = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0.5]}]
    vectors, bodies = embed({"data": rows}, ["one", "二"])
    assert vectors == [[1.0, 0.5], [0.0, 1.0]] and bodies == [{"model": "e", "input": ["one", "二"]}]


def test_nothing_is_asked_for_nothing() -> None:
    assert embed({}, []) == ([], [])


def test_many_texts_are_asked_for_in_parts() -> None:
    part = {"data": [{"index": place, "embedding": [1.0]} for place in range(64)]}
    vectors, bodies = embed(part, ["x"] * 128)
    assert len(vectors) == 128 and [len(body["input"]) for body in bodies] == [64, 64]


@pytest.mark.parametrize(
    "answer",
    [
        {},
        [],
        {"data": []},
        {"data": [{"index": 0, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 0, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]},
        {"data": [{"index": 0, "embedding": []}, {"index": 1, "embedding": []}]},
        {"data": [{"index": 0, "embedding": ["x"]}, {"index": 1, "embedding": [1]}]},
        {"data": [{"index": 0, "embedding": [float("nan")]}, {"index": 1, "embedding": [1]}]},
    ],
)
def test_what_is_no_vector_for_each_is_a_failure(answer: Any) -> None:
    with pytest.raises(Failure) as caught:
        embed(answer, ["one", "two"])
    assert caught.value.kind == "unreadable"


def test_a_refusal_is_told() -> None:
    with pytest.raises(Failure) as caught:
        embed(Reply(status=429), ["one"])
    assert caught.value.kind == "429"
