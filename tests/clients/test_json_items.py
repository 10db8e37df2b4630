from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.clients import json_items
from catmem.clients.json_items import items_of

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(st.text(max_size=5), _JSON, max_size=3), max_size=4), st.integers(1, 9), st.booleans())
def test_any_cut_into_blocks_gives_the_same_items(values: list[Any], block: int, ascii_only: bool) -> None:
    data = json.dumps(values, ensure_ascii=ascii_only, indent=1).encode("utf-8", "replace")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_items, "BLOCK", block)
        found = list(items_of(io.BytesIO(data)))
    assert [item.value for item in found] == json.loads(data)
    assert not any(item.reason for item in found)


def test_a_broken_item_costs_only_itself() -> None:
    data = b'\xef\xbb\xbf[\n{"a": 1},\n{"b": "\\x"},\n{"c": "]}"}]'
    found = [(item.value, bool(item.reason), item.line) for item in items_of(io.BytesIO(data))]
    assert found == [({"a": 1}, False, 2), (None, True, 3), ({"c": "]}"}, False, 4)]


def test_an_item_that_is_cut_off_is_told() -> None:
    found = list(items_of(io.BytesIO(b'[{"a": 1}, {"b": "half')))
    assert [bool(item.reason) for item in found] == [False, True]


def test_one_object_is_one_item_and_nothing_is_none() -> None:
    assert [item.value for item in items_of(io.BytesIO(b' {"a": [{}]} '))] == [{"a": [{}]}]
    assert list(items_of(io.BytesIO(b"[]"))) == list(items_of(io.BytesIO(b""))) == []


def test_a_huge_string_is_shortened() -> None:
    data = b'[{"a": "' + b"x" * (30 << 20) + b'", "b": 2}]'
    (item,) = items_of(io.BytesIO(data))
    assert isinstance(item.value, dict)
    assert item.value["b"] == 2
    assert len(item.value["a"]) < 2 << 20
