from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.domain.errors import BadInput
from catmem.sessions.names import LONGEST_KEY, file_name, place, safe_key
from catmem.settings.paths import Paths

AWKWARD = [
    "",
    ".",
    "..",
    "../../x",
    "/etc/passwd",
    "C:\\Users\\u",
    "c:",
    "CON",
    "con",
    "con.txt",
    "nul",
    "LPT1",
    "com9.jsonl",
    "a\x00b",
    "a\nb",
    "telegram:a_b",
    "telegram:a:b",
    "telegram/a:b",
    "telegram_a:b",
    "Session",
    "session",
    "SESSION",
    "记住这个",
    "记住那个",
    "🐈",
    "\ud83d",
    "\ud83e",
    "x" * 5000,
    "x" * 4999 + "y",
    "a.",
    "a",
    "-a",
    "~a",
    "a~b",
    "  ",
    "%2e%2e",
]


def test_awkward_keys_have_names_of_their_own_inside_the_folder(tmp_path: Path) -> None:
    names = [file_name(key) for key in AWKWARD]
    assert len({name.lower() for name in names}) == len(AWKWARD)
    for name in names:
        (tmp_path / (name + ".jsonl")).write_text("x")
        assert (tmp_path / (name + ".jsonl")).parent == tmp_path
    assert len(list(tmp_path.iterdir())) == len(AWKWARD)


def test_a_safe_slug_is_its_own_name() -> None:
    for key in ("webshop-3f2a9c1d", "6f1c", "a.b_c-d", "x" * 80):
        assert file_name(key) == key
    for key in ("x" * 81, "Webshop", "a b", "a:b", "ab."):
        assert "~" in file_name(key)


def test_a_name_is_readable() -> None:
    assert file_name("claude-code:6f1c").startswith("claude-code-6f1c~")


@given(st.text(), st.text())
def test_distinct_keys_never_share_a_file_even_without_case(one: str, other: str) -> None:
    if one != other:
        assert file_name(one).lower() != file_name(other).lower()


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=200))
def test_a_name_is_plain_whatever_the_key(key: str) -> None:
    name = file_name(key)
    assert name.isascii() and name == name.lower() and 0 < len(name) <= 80
    assert not {"/", "\\", ":", "\x00", " "} & set(name) and name[0].isalnum() and name[-1] != "."
    assert not PureWindowsPath(name + ".jsonl").is_reserved()


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=50))
def test_a_safe_key_can_be_stored(key: str) -> None:
    safe = safe_key(key)
    assert safe.encode() and "\x00" not in safe if key else safe == ""
    assert safe_key(safe) == safe


def test_lone_surrogates_do_not_make_two_keys_one() -> None:
    assert safe_key("a\ud800") != safe_key("a\ud801")


def test_a_key_may_be_long_but_not_endless() -> None:
    assert safe_key("忆" * 5000) == "忆" * 5000
    with pytest.raises(BadInput, match="at most"):
        safe_key("x" * (LONGEST_KEY + 1))


def test_places_agree_with_the_settings(tmp_path: Path) -> None:
    paths, found = Paths(tmp_path), place(str(tmp_path), "webshop", "6f1c")
    assert Path(found.file) == paths.messages / "webshop" / "6f1c.jsonl"
    assert Path(found.lock).is_relative_to(paths.locks)
    assert Path(found.quarantine).is_relative_to(paths.quarantine)
