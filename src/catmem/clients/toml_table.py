"""A table of ours at the end of a TOML file, known by the line before it; every other byte stays."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from catmem.clients.installing import decoded, refused

_MARK = "# catmem: the lines up to the next blank one come and go with `mem install` and `mem uninstall`"


@dataclass(frozen=True, slots=True)
class TomlPart:
    """An Edit of a file of TOML: `values` (texts and lists of texts) under the table `name`."""

    path: Path
    name: str
    values: Mapping[str, object]

    def has(self, data: bytes) -> bool:
        text = self._text(data)
        return _MARK in text and _at(tomllib.loads(text), self.name) == dict(self.values)

    def put(self, data: bytes) -> bytes:
        text = self._without(self._text(data))
        if _at(tomllib.loads(text), self.name) is not None:
            raise refused(self.path, f"it has a [{self.name}] that is not ours")
        newline = "\r\n" if "\r\n" in text else "\n"
        lines = [_MARK, f"[{self.name}]", *(f"{key} = {_spelled(value)}" for key, value in self.values.items())]
        before = "" if not text else newline if text.endswith("\n") else newline * 2
        text += before + newline.join(lines) + newline
        decoded(text.encode("utf-8", "surrogatepass"), self.path, tomllib.loads)
        return text.encode()

    def take(self, data: bytes) -> bytes:
        text = self._text(data)
        clean = self._without(text)
        if clean == text:
            return data
        if _at(decoded_toml(clean, self.path), self.name) is not None:
            raise refused(self.path, f"more was added to our [{self.name}]; remove it by hand")
        return clean.encode()

    def is_empty(self, data: bytes) -> bool:
        return not data.strip()

    def _text(self, data: bytes) -> str:
        return decoded(data, self.path, tomllib.loads)

    def _without(self, text: str) -> str:
        """Without the lines of ours, and the blank one that we put before them."""
        lines = text.splitlines(keepends=True)
        begin = next((number for number, line in enumerate(lines) if line.strip() == _MARK), None)
        if begin is None:
            return text
        end = begin + 2
        while end < len(lines) and lines[end].strip() and not lines[end].lstrip().startswith("["):
            end += 1
        if begin and not lines[begin - 1].strip():
            begin -= 1
        return "".join(lines[:begin] + lines[end:])


def decoded_toml(text: str, path: Path) -> dict[str, Any]:
    decoded(text.encode("utf-8", "surrogatepass"), path, tomllib.loads)
    return tomllib.loads(text)


def _at(document: Mapping[str, Any], name: str) -> object:
    """What stands under a dotted name, None if nothing does."""
    value: Any = document
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _spelled(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_spelled, value)) + "]"
    return '"' + "".join(map(_escaped, str(value))) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\u{ord(character):04x}"
