"""The registry as a hook reads it: whatever is wrong with the file, every project is its own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.settings import registry
from catmem.settings.places import Places
from catmem.settings.registry import Registry
from catmem.settings.workspace import Project

KEYS = st.sampled_from(["shop", "茶壶", "blog", "notes"])


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", "{}", '{"homes": 1}', '{"homes": {}}\n{"names": {}, "seen": {"k": ["x"]}}',
     '{"homes": {}}\n{"names": {}, "seen": [1]}', '{"homes": {}}\n{"na', "\x00\x00"],
)  # fmt: skip
def test_a_damaged_registry_is_an_empty_one(tmp_path, content):
    places = Places(str(tmp_path))
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "projects.json").write_text(content)
    found = registry.read(places)
    assert found.members("shop") == ("shop",) and found.home_of(Project("shop", "shop", "/s")) == "shop"
    assert found.names == {} or found.seen == {}


def test_none_at_all(tmp_path):
    assert registry.read(Places(str(tmp_path))).home("茶壶") == "茶壶"


def test_it_reads_what_was_written(tmp_path):
    (tmp_path / "run").mkdir()
    written = registry.encode({"a": "b", "c": "b"}, {"b": "茶壶"}, {"a": ("c0ffee", ["/x"])})
    (tmp_path / "run" / "projects.json").write_bytes(written)
    found = registry.read(Places(str(tmp_path)))
    assert [found.members(key) for key in "abcd"] == [("b", "a", "c")] * 3 + [("d",)]
    assert (
        found.names == {"b": "茶壶"}
        and found.seen == {"a": ("c0ffee", ["/x"])}
        and found.home_of(Project("a", "a", "/x")) == "b"
    )


@given(st.dictionaries(KEYS, KEYS))
def test_members_of_a_project_are_the_same_whichever_of_them_asks(homes):
    flat = {key: home for key, home in homes.items() if key != home and home not in homes}
    found = Registry(flat)
    for key in (*flat, *flat.values()):
        members = found.members(key)
        assert key in members and members == found.members(members[0]) and len(set(members)) == len(members)


# A quotation mark stands in no key: keys are made of letters, digits, dots, dashes and underscores.
KEY_LIKE = st.text(st.characters(exclude_characters='"\\', exclude_categories=("Cs", "Cc")), min_size=1, max_size=6)


@given(st.dictionaries(KEY_LIKE, st.tuples(KEY_LIKE, st.lists(st.text(max_size=9)))), KEY_LIKE)
def test_the_second_line_is_read_only_for_a_key_that_it_does_not_know(seen, key):
    names = dict.fromkeys((*seen, key), f'"{key}": [')
    rest = registry.encode({}, names, seen).partition(b"\n")[2]

    class Watched(Registry):
        read = False

        @property
        def seen(self):
            Watched.read = True
            return {}

    assert Watched({}, rest).home_of(Project(key, "app", "/nowhere/app")) == key
    assert Watched.read == (key not in seen)
