from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.clients.json_text import parse, with_entry, without_entry

COMMENTED = """\
{
  // 主题 theme
  "theme": "dark", // why: my eyes
  /* two
     lines */
  "mcpServers": {
    "other": {"command": "x"}, // keep
  },
}
"""


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        (" \n", {}),
        ("{}", {}),
        ('{"a": [1, 2.5e3, null, true, "\\u8336\\n//x"]}', {"a": [1, 2500.0, None, True, "茶\n//x"]}),
        (COMMENTED, {"theme": "dark", "mcpServers": {"other": {"command": "x"}}}),
    ],
)
def test_it_says_what_json_says(text: str, value: object) -> None:
    assert parse(text, comments=True).value == value


@pytest.mark.parametrize(
    "text",
    [
        "{", "}", '{"a"}', '{"a":}', '{"a" 1}', '{"a":1 "b":2}', '{"a":1,,"b":2}', "[1 2]", "[,]", "{,}", "{1:2}",
        '{"a":1}{}', "[1]]", '{"a":1,"a":2}', '{"a":tru}', '{"a":"x}', "{'a':1}", '{"a":1 /* x }', '{"a":01}', "[1,]]",
    ],
)  # fmt: skip
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse(text, comments=True)


@pytest.mark.parametrize("text", ["{// x\n}", "[1,]", '{"a":1,}', "/**/{}"])
def test_comments_and_last_commas_only_where_they_are_allowed(text: str) -> None:
    parse(text, comments=True)
    with pytest.raises(ValueError):
        parse(text)


def test_an_entry_stands_among_comments_as_a_person_would_put_it() -> None:
    text = with_entry(COMMENTED, parse(COMMENTED, comments=True).children[1], "catmem", {"command": "mem"})
    assert '"other": {"command": "x"}, // keep\n    "catmem": {\n      "command": "mem"\n    },\n  },' in text
    servers = parse(text, comments=True).children[1]
    assert without_entry(text, servers, 1) == COMMENTED


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 1, 4, "\t"]), st.booleans())
def test_any_json_is_read_as_json_reads_it(value: Any, indent: Any, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert parse(text).value == json.loads(text)


@given(
    st.dictionaries(st.text(max_size=4), VALUES, min_size=1, max_size=4),
    VALUES,
    st.sampled_from([None, 2, "\t"]),
    st.data(),
)
def test_an_entry_goes_in_and_out_again(value: dict[str, Any], new: Any, indent: Any, data: st.DataObject) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    name = data.draw(st.text(max_size=5).filter(lambda n: n not in value))
    added = with_entry(text, parse(text), name, new)
    assert json.loads(added) == {**value, name: new}
    assert without_entry(added, parse(added), len(value)) == text
    gone = data.draw(st.sampled_from(list(value)))
    rest = json.loads(without_entry(added, parse(added), list(value).index(gone)))
    assert rest == {k: v for k, v in {**value, name: new}.items() if k != gone}
