"""Putting a piece into a JSON text without touching any other character of it.

The parser of the standard library tells where a value ends; numbers, escapes, spaces and the order of keys stay.
"""

from __future__ import annotations

import json
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any, NamedTuple

_DECODER = json.JSONDecoder(strict=False)
_BLANKS = " \t\n\r"


class Span(NamedTuple):
    """A value and where it stands: text[start:end]."""

    value: Any
    start: int
    end: int


def members(text: str, start: int = 0) -> dict[str, Span]:
    """The members of the object that begins at or after `start`; of a key that stands twice, the last, as parsers do.

    Raises ValueError for what is no object.
    """
    found: dict[str, Span] = {}
    position = _past(text, _blank(text, start), "{")
    while text[position : position + 1] != "}":
        if text[position : position + 1] != '"':
            raise ValueError("no key")
        key, position = scanstring(text, position + 1, False)
        span = _value(text, _past(text, _blank(text, position), ":"))
        found[key] = span
        position = _next(text, span.end, "}")
    return found


def items(text: str, start: int) -> list[Span]:
    """The items of the array that begins at `start`. Raises ValueError."""
    found: list[Span] = []
    position = _past(text, start, "[")
    while text[position : position + 1] != "]":
        span = _value(text, position)
        found.append(span)
        position = _next(text, span.end, "]")
    return found


def member(text: str, name: str, value: str) -> str:
    """The text of an object with one more member, before all others. `value` is JSON."""
    position = _past(text, _blank(text, 0), "{")
    comma = "" if text[position : position + 1] == "}" else ","
    return f"{text[:position]}{quoted(name)}:{value}{comma}{text[position:]}"


def after(text: str, place: int, value: str) -> str:
    """The text with one more item behind the one that ends at `place`."""
    return f"{text[:place]},{value}{text[place:]}"


def first(text: str, array: Span, value: str) -> str:
    """The text with one more item at the beginning of an array."""
    comma = "," if array.value else ""
    return f"{text[: array.start + 1]}{value}{comma}{text[array.start + 1 :]}"


def instead(text: str, span: Span, value: str) -> str:
    return text[: span.start] + value + text[span.end :]


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _value(text: str, position: int) -> Span:
    start = _blank(text, position)
    value, end = _DECODER.raw_decode(text, start)
    return Span(value, start, end)


def _next(text: str, position: int, closing: str) -> int:
    """Past the comma behind a value, or at the bracket that ends the row."""
    position = _blank(text, position)
    if text[position : position + 1] == closing:
        return position
    position = _past(text, position, ",")
    if text[position : position + 1] == closing:
        raise ValueError("nothing behind a comma")
    return position


def _past(text: str, position: int, sign: str) -> int:
    if text[position : position + 1] != sign:
        raise ValueError(f"no {sign}")
    return _blank(text, position + 1)


def _blank(text: str, position: int) -> int:
    while position < len(text) and text[position] in _BLANKS:
        position += 1
    return position
