"""What a parser says is told in Chinese, too."""

from __future__ import annotations

import json

import pytest
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from catmem.text.faults import json_fault_zh, yaml_fault_zh


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"a"', '{"a":', '{"a": 1', '{"a": 1 2}', "[1 2]", "{1: 2}", "1 2", '"ab', '"\\q"', '"\\u12"', '"\x01"', '{"a": 1,}', "[1,]", "nul"],
)  # fmt: skip
def test_all_that_the_decoder_says(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    said = json_fault_zh(str(caught.value))
    plain = said.replace("\\uXXXX", "")
    assert not any(letter.isascii() and letter.isalpha() for letter in plain), said
    assert "列" in said


def test_the_line_and_what_follows_stay() -> None:
    assert (
        json_fault_zh("Extra data: line 3 column 7 (char 20) (part.json)")
        == "后面还有多余内容，第 3 行第 7 列 (part.json)"
    )
    assert json_fault_zh("bubbleId:1") == "bubbleId:1"


def test_yaml() -> None:
    with pytest.raises(YAMLError) as caught:
        YAML(typ="safe", pure=True).load("a: 1\nb: [1, 2\nc: 3\n")
    assert yaml_fault_zh(caught.value) == "第 3 行第 2 列附近写法有误"
    assert yaml_fault_zh(ValueError("x")) == "写法有误"
