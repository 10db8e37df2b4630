from __future__ import annotations

import json
from typing import Any

import pytest

from catmem.llm.misbehaving import WRONG, bad_model, everything, nothing
from catmem.llm.port import Failure, Turn
from catmem.llm.scripted import Asked

TURNS = (Turn("user", "1. 以后都用 pnpm。 2. 今天下雨。 3. Use tabs."),)
SCHEMA = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer", "enum": [1, 3]},
                    "kind": {"enum": ["preference", "decision"]},
                    "words": {"type": "string"},
                    "sure": {"type": "number"},
                },
                "required": ["number"],
            },
        },
        "digest": {"type": "string"},
    },
    "required": ["facts", "digest"],
}
FAILING = {"401", "429", "500", "timeout", "hang", "stream-died"}


def said(kind: str) -> str:
    return bad_model(kind).complete((), TURNS, SCHEMA).text


def facts(kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(said(kind))["facts"]
    return found


@pytest.mark.parametrize("kind", sorted(FAILING))
def test_a_failure_is_counted_by_its_own_name(kind: str) -> None:
    with pytest.raises(Failure) as caught:
        said(kind)
    assert caught.value.kind == kind


@pytest.mark.parametrize("kind", sorted({"prose", "empty", "half-json", "fenced", "cut-off", "repetition", "refusal"}))
def test_what_is_no_json(kind: str) -> None:
    with pytest.raises(ValueError):
        json.loads(said(kind))


def test_what_looks_right_and_is_wrong() -> None:
    assert [fact["number"] for fact in facts("everything")] == [1, 3]
    assert facts("nothing") == []
    assert not {fact["number"] for fact in facts("wrong-numbers")} & {1, 3}
    assert all("Docker" in fact["words"] for fact in facts("inventions"))
    assert facts("wrong-language")[0]["words"].isascii()
    assert json.loads(said("wrong-type"))["facts"].keys() == {"0", "1"}


def test_how_it_ended() -> None:
    finishes = {kind: bad_model(kind).complete((), TURNS, SCHEMA).finish for kind in WRONG.keys() - FAILING}
    assert {kind: finish for kind, finish in finishes.items() if finish != "stop"} == {
        "cut-off": "length",
        "repetition": "length",
        "refusal": "refusal",
    }


def test_a_good_answer_of_ones_own_is_spoiled() -> None:
    model = bad_model("fenced", lambda asked: '{"facts": []}')
    assert "```json\n{\"facts\": []}\n```" in model.complete((), TURNS, SCHEMA).text  # fmt: skip


def test_the_form_is_kept_without_numbers_too() -> None:
    asked = Asked(
        (), TURNS, {"type": "object", "properties": {"names": {"type": "array", "items": {"type": "string"}}}}
    )
    assert everything(asked) == '{"names": [""]}' and nothing(asked) == '{"names": []}'
