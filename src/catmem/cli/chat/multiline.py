"""When a message is not finished with its line: it ends in a backslash, or began with three quotes."""

from __future__ import annotations

QUOTES = '"""'


def is_open(text: str) -> bool:
    """True if Enter after `text` begins a new line of the same message."""
    return ends_in_backslash(text) or (text.lstrip().startswith(QUOTES) and text.count(QUOTES) % 2 == 1)


def ends_in_backslash(text: str) -> bool:
    """True for one that continues: two are one that is meant."""
    return (len(text) - len(text.rstrip("\\"))) % 2 == 1


def without_quotes(text: str) -> str:
    """What stands between the quotes, where they enclose all of a message."""
    bare = text.strip()
    if bare.startswith(QUOTES) and bare.endswith(QUOTES) and bare.count(QUOTES) == 2:
        return bare[len(QUOTES) : -len(QUOTES)].strip("\n")
    return text
