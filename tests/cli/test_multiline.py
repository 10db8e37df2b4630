from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catmem.cli.chat.multiline import ends_in_backslash, is_open, without_quotes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", False),
        ("one", False),
        ("one \\", True),
        (r"C:\\", False),
        (r"三个 \\\ ".rstrip(), True),
        ('"""', True),
        ('  """一\n二', True),
        ('"""one"""', False),
        # Code that begins with a docstring is whole, and a quote amid a sentence opens nothing.
        ('"""Doc."""\nx = 1', False),
        ('he wrote """ here', False),
    ],
)
def test_what_goes_on_with_the_next_line(text: str, expected: bool) -> None:
    assert is_open(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"""one\ntwo"""', "one\ntwo"),
        ('"""\n一\n\n二\n"""', "一\n\n二"),
        ('"""Doc."""\nx = 1', '"""Doc."""\nx = 1'),
        ('"""a""" and """b"""', '"""a""" and """b"""'),
        ('"""', '"""'),
        ("plain", "plain"),
    ],
)
def test_quotes_are_taken_off_where_they_enclose_everything(text: str, expected: str) -> None:
    assert without_quotes(text) == expected


@given(st.text())
def test_one_more_backslash_changes_whether_it_goes_on(text: str) -> None:
    assert ends_in_backslash(text + "\\") != ends_in_backslash(text)


@given(st.text(st.characters(exclude_characters='"\\')))
def test_what_is_put_into_quotes_comes_out_whole(text: str) -> None:
    assert without_quotes(f'"""\n{text}\n"""') == text.strip("\n")
    assert not is_open(f'"""{text}"""')
