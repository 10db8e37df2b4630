"""JSON as text, with comments where a host allows them: entries go in and out, every other byte stays where it was."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r\n]+)|(?P<comment>//[^\r\n]*|/\*.*?\*/)|(?P<text>"(?:[^"\\]|\\.)*")|(?P<sign>[{}\[\]:,])|(?P<word>[^\s{}\[\]:,"/]+)""",
    re.DOTALL,
)
# What stands on the line of an entry behind it, and belongs to it.
_REMARK = re.compile(r"[ \t]*(?://[^\r\n]*|/\*[^\r\n]*?\*/)")
_CLOSES = {"{": "}", "[": "]"}


_DECODER = json.JSONDecoder()
_BLANKS = re.compile(r"[ \t\r\n]*")


@dataclass(slots=True)
class Node:
    """A value and where it stands. An entry begins at `entry`: its name's begin in an object, its own in a list.

    What is inside is found when it is asked for, where `source` is the text: an assistant's file may have megabytes.
    """

    start: int
    end: int = 0
    entry: int = 0
    value: Any = None
    source: str = ""
    _names: list[str] = field(default_factory=list)
    _children: list[Node] = field(default_factory=list)
    _commas: list[int] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """Of the entries of an object."""
        self._look_inside()
        return self._names

    @property
    def children(self) -> list[Node]:
        self._look_inside()
        return self._children

    @property
    def commas(self) -> list[int]:
        """The comma behind each child; -1 where there is none."""
        self._look_inside()
        return self._commas

    def child(self, name: str) -> Node | None:
        return self.children[self.names.index(name)] if name in self.names else None

    def add(self, child: Node, name: str | None) -> None:
        self._children.append(child)
        if name is not None:
            self._names.append(name)

    def _look_inside(self) -> None:
        text, self.source = self.source, ""
        if not text or not isinstance(self.value, dict | list):
            return
        position = _behind_blanks(text, self.start + 1)
        while text[position] not in "}]":
            entry, name = position, None
            if isinstance(self.value, dict):
                name, position = _DECODER.raw_decode(text, position)
                position = _behind_blanks(text, _behind_blanks(text, position) + 1)
            value, end = _DECODER.raw_decode(text, position)
            self.add(Node(position, end, entry, value, text), name)
            position = _behind_blanks(text, end)
            self._commas.append(position if text[position] == "," else -1)
            if text[position] == ",":
                position = _behind_blanks(text, position + 1)


def parse(text: str, *, comments: bool = False) -> Node:
    """The outermost value; an empty text is an empty object. Raises ValueError, RecursionError.

    `comments` allows comments and a comma behind the last entry.
    """
    if not text.strip():
        return Node(len(text), len(text), value={})
    if not comments:
        value = json.loads(text, object_pairs_hook=_once)
        return Node(_behind_blanks(text, 0), len(text.rstrip()), _behind_blanks(text, 0), value, text)
    scan = _Scan(text)
    root = scan.value(scan.next())
    if scan.peek() is not None:
        raise ValueError(f"more behind the end of the value, at character {scan.next().start()}")
    return root


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"has {next(name for name in names if names.count(name) > 1)!r} twice")
    return members


def _behind_blanks(text: str, position: int) -> int:
    match = _BLANKS.match(text, position)
    return match.end() if match else position


class _Scan:
    """The tokens of a text with comments, without them and blanks."""

    def __init__(self, text: str) -> None:
        self._tokens: list[re.Match[str]] = []
        self._at = 0
        position = 0
        while position < len(text):
            token = _TOKEN.match(text, position)
            if token is None:
                raise ValueError(f"unexpected {text[position : position + 10]!r} at character {position}")
            if token.lastgroup not in ("blank", "comment"):
                self._tokens.append(token)
            position = token.end()

    def peek(self) -> str | None:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else None

    def next(self) -> re.Match[str]:
        if self._at == len(self._tokens):
            raise ValueError("it ends in the middle")
        self._at += 1
        return self._tokens[self._at - 1]

    def value(self, token: re.Match[str]) -> Node:
        if token[0] in _CLOSES:
            return self._container(token)
        if token.lastgroup == "sign":
            raise ValueError(f"unexpected {token[0]!r} at character {token.start()}")
        return Node(token.start(), token.end(), token.start(), json.loads(token[0]))

    def _container(self, opening: re.Match[str]) -> Node:
        node = Node(opening.start(), entry=opening.start())
        closing = _CLOSES[opening[0]]
        while self.peek() != closing:
            if node.children and node.commas[-1] < 0:
                raise ValueError(f"a comma is missing before character {self.next().start()}")
            name, child = self._child(named=closing == "}")
            if name in node.names:
                raise ValueError(f"has {name!r} twice")
            node.add(child, name)
            node.commas.append(self.next().start() if self.peek() == "," else -1)
        node.end = self.next().end()
        values = [child.value for child in node.children]
        node.value = dict(zip(node.names, values, strict=True)) if closing == "}" else values
        return node

    def _child(self, *, named: bool) -> tuple[str | None, Node]:
        token, name = self.next(), None
        entry = token.start()
        if named:
            if token.lastgroup != "text":
                raise ValueError(f"unexpected {token[0]!r} at character {entry}")
            name = json.loads(token[0])
            if self.next()[0] != ":":
                raise ValueError(f"a colon is missing behind {name!r}")
            token = self.next()
        child = self.value(token)
        child.entry = entry
        return name, child


def with_entry(text: str, holder: Node, name: str | None, value: object) -> str:
    """`text` with one more entry at the end of an object (under `name`) or of a list."""
    if holder.start == holder.end:  # an empty text
        return "{\n  " + _spelled(name, value, "  ", "  ", "\n") + "\n}\n"
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = _unit(text)
    indent = _indent_of(text, holder, unit)
    lead = newline + indent if indent is not None else ""
    entry = _spelled(name, value, indent, unit, newline)
    if not holder.children:
        opened = holder.start + 1
        close = newline + _indent_at(text, holder.start) if lead and "\n" not in text[opened : holder.end] else ""
        return text[:opened] + lead + entry + close + text[opened:]
    last, comma = holder.children[-1].end, holder.commas[-1]
    behind = comma + 1 if comma >= 0 else last
    remark = _REMARK.match(text, behind)
    at = remark.end() if remark and lead else behind
    separator = "" if comma >= 0 else ","
    return text[:last] + separator + text[last:at] + (lead or " ") + entry + ("," if comma >= 0 else "") + text[at:]


def without_entry(text: str, holder: Node, number: int) -> str:
    """`text` without an entry of an object or a list; what a person wrote around it stays."""
    child, comma = holder.children[number], holder.commas[number]
    begin = len(text[: child.entry].rstrip(" \t\r\n"))
    end = comma + 1 if comma >= 0 else child.end
    head = text[:begin]
    if comma < 0 and number:
        before = holder.commas[number - 1]
        head = text[:before] + text[before + 1 : begin]
    rest = text[end:]
    if len(holder.children) == 1 and head.rstrip().endswith(text[holder.start]) and head.rstrip()[-1:] in "{[":
        rest = rest.lstrip(" \t\r\n") if rest.lstrip(" \t\r\n")[:1] in ("}", "]") else rest
    return head + rest


def _spelled(name: str | None, value: object, indent: str | None, unit: str, newline: str) -> str:
    spelled = json.dumps(value, indent=unit if indent is not None else None, ensure_ascii=False)
    named = "" if name is None else json.dumps(name, ensure_ascii=False) + ": "
    return named + spelled.replace("\n", newline + (indent or ""))


def _indent_of(text: str, holder: Node, unit: str) -> str | None:
    """What stands before each entry of a holder; None where they share one line."""
    if holder.children:
        return _indent_before(text, holder.children[0].entry)
    if "\n" in text.strip() or holder.start == len(text) - len(text.lstrip("\ufeff \t\r\n")):
        return _indent_at(text, holder.start) + unit
    return None


def _indent_before(text: str, position: int) -> str | None:
    """The blanks before a position, if nothing else stands before it on its line."""
    begin = text.rfind("\n", 0, position) + 1
    blanks = text[begin:position]
    return blanks if begin and not blanks.strip() else None


def _indent_at(text: str, position: int) -> str:
    """The blanks with which the line of a position begins."""
    begin = text.rfind("\n", 0, position) + 1
    line = text[begin:position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    indents = re.findall(r'^([ \t]+)"', text, re.MULTILINE)
    return min(indents, key=len) if indents else "  "
