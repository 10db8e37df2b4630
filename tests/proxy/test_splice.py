"""Putting a piece into a JSON text: it is there, and nothing else has changed."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.proxy import splice
from catmem.proxy.wires import anthropic, chat, gemini, responses
from tests.proxy.talks import spelled

BRIEF = 'known: "tea" 茶\n\\'
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=6), st.integers())
def test_members_are_found_where_they_stand(value: dict[str, Any], seed: int) -> None:
    text = spelled(value, random.Random(seed))
    for name, span in splice.members(text).items():
        assert json.loads(text[span.start : span.end]) == span.value == json.loads(text)[name]


@given(st.lists(VALUES, max_size=5), st.integers())
def test_items_are_found_where_they_stand(value: list[Any], seed: int) -> None:
    text = spelled({"row": value}, random.Random(seed))
    row = splice.members(text)["row"]
    found = splice.items(text, row.start)
    assert [json.loads(text[span.start : span.end]) for span in found] == json.loads(text)["row"]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a"', '{"a":1,}', "{1:2}", "null", '{"a":}', '{"a":1 "b":2}'])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        splice.members(text)


BLOCK = {"type": "text", "text": BRIEF}
DEVELOPER = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": BRIEF}]}
CASES = [
    (anthropic, {"messages": []}, {"system": [BLOCK]}),
    (anthropic, {"system": "", "messages": []}, {"system": [BLOCK]}),
    (anthropic, {"system": None, "messages": []}, {"system": [BLOCK]}),
    (anthropic, {"system": [], "messages": []}, {"system": [BLOCK]}),
    (anthropic, {"system": "You help."}, {"system": [{"type": "text", "text": "You help."}, BLOCK]}),
    (anthropic, {"system": [{"type": "text", "text": "a"}]}, {"system": [{"type": "text", "text": "a"}, BLOCK]}),
    (chat, {"messages": [{"role": "user", "content": "x"}]}, [("system", BRIEF), ("user", "x")]),
    (
        chat,
        {"messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "x"}, {"role": "system", "content": "b"}]},
        [("system", "a"), ("system", BRIEF), ("user", "x"), ("system", "b")],
    ),
    (
        chat,
        {"messages": [{"role": "developer", "content": "a"}, {"role": "user", "content": "x"}]},
        [("developer", "a"), ("developer", BRIEF), ("user", "x")],
    ),
    (responses, {"input": "x"}, {"instructions": BRIEF}),
    (responses, {"input": "x", "instructions": None}, {"instructions": BRIEF}),
    (responses, {"input": [], "instructions": "a"}, {"instructions": f"a\n\n{BRIEF}", "input": []}),
    (responses, {"input": []}, {"input": [DEVELOPER]}),
    (responses, {"input": [{"role": "developer"}, {"role": "user"}]}, {"input": [{"role": "developer"}, DEVELOPER, {"role": "user"}]}),
    (responses, {"input": [{"role": "user"}], "previous_response_id": "r"}, {"instructions": BRIEF, "input": [{"role": "user"}]}),
    (responses, {"input": [{"role": "user"}], "conversation": {"id": "c"}}, {"instructions": BRIEF}),
    (gemini, {"contents": []}, {"systemInstruction": {"parts": [{"text": BRIEF}]}}),
    (gemini, {"systemInstruction": {"parts": []}}, {"systemInstruction": {"parts": [{"text": BRIEF}]}}),
    (gemini, {"system_instruction": {"parts": {"text": "a"}}}, {"system_instruction": {"parts": [{"text": "a"}, {"text": BRIEF}]}}),
    (gemini, {"systemInstruction": {"role": "x", "parts": [{"text": "a"}]}}, {"systemInstruction": {"role": "x", "parts": [{"text": "a"}, {"text": BRIEF}]}}),
]  # fmt: skip


@pytest.mark.parametrize(("wire", "body", "expected"), CASES)
@pytest.mark.parametrize("seed", range(3))
def test_where_the_brief_stands(wire: Any, body: dict[str, Any], expected: Any, seed: int) -> None:
    made = json.loads(wire.insert(spelled(body, random.Random(seed)), BRIEF))
    if isinstance(expected, list):
        assert [(message["role"], message["content"]) for message in made["messages"]] == expected
    else:
        assert made == {**body, **expected}


def test_of_a_key_that_stands_twice_the_last_counts() -> None:
    assert anthropic.insert('{"system":"a","system":"b"}', "c").endswith(
        '"system":[{"type":"text","text":"b"},{"type":"text","text":"c"}]}'
    )


@pytest.mark.parametrize(
    ("wire", "text"),
    [(chat, "{}"), (chat, '{"messages":"x"}'), (gemini, '{"cachedContent":"c","contents":[]}'), (gemini, '{"systemInstruction":"x"}'), (anthropic, '{"system":7}')],
)  # fmt: skip
def test_where_no_brief_can_stand_none_is_put(wire: Any, text: str) -> None:
    with pytest.raises(ValueError):
        wire.insert(text, BRIEF)
