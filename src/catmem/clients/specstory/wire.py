"""A SpecStory document: Markdown with a heading of each speaker, and tags around what a tool did."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

SESSION = re.compile(r"<!-- (?P<program>[^\n]*?) Session (?P<id>[0-9A-Za-z][\w.-]*) \((?P<at>[^)\n]*)\) -->")
SESSION_BYTES = re.compile(rb"<!-- [^\n]{0,80}? Session [0-9A-Za-z][\w.-]* \([^)\n]{0,40}\) -->")
_HEADING = re.compile(r"_\*\*(?P<who>User|Agent|Assistant)(?P<side> - sidechain)?(?: \((?P<note>[^\n]*)\))?\*\*_\s*\Z")
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d[ T_]\d\d[:-]\d\d[:-]\d\dZ?")
_UNDERLINED = re.compile(r"(\d{4}-\d\d-\d\d)_(\d\d)-(\d\d)-(\d\d)")
_PART = re.compile(r"<tool-use\b(?P<head>[^>\n]*)>(?P<inside>.*?)</tool-use>|<think>.*?</think>", re.DOTALL)
_TOOL_NAME = re.compile(r'data-tool-name="([^"\n]+)"')
_FOLDING = re.compile(r"</?(?:details|summary)>|Tool use: \*\*[^*\n]*\*\*")
# What stands for a result that a tool did not print: a call is never without one.
NO_OUTPUT = "[no output]"
_TOOL_BEGINS, _TOOL_ENDS = "<tool-use", "</tool-use>"


class Turn(NamedTuple):
    """What stands under one heading."""

    who: str  # user or assistant
    side: bool  # written by or for a subagent
    at: str
    line: int
    text: str


class Part(NamedTuple):
    """A stretch of the assistant's turn: words, or what the tool of that name did."""

    tool: str
    text: str


def instant_in(note: str) -> str:
    """The time in `model 2026-05-11 10:00:05Z`, also in the spelling of file names."""
    match = _INSTANT.search(note)
    return _UNDERLINED.sub(r"\1 \2:\3:\4", match[0]) if match else ""


def turns_of(text: str) -> Iterator[Turn]:
    """The turns of a document. A heading that a tool shows is no heading."""
    lines = text.split("\n")
    last_end = max((number for number, line in enumerate(lines) if _TOOL_ENDS in line), default=-1)
    heading, begun, inside = None, 0, False
    for number, line in enumerate(lines):
        if inside or line.startswith(_TOOL_BEGINS):
            inside = number < last_end and _TOOL_ENDS not in line
            continue
        match = _HEADING.match(line)
        if match:
            if heading:
                yield _turn(heading, begun, lines[begun + 1 : number])
            heading, begun = match, number
    if heading:
        yield _turn(heading, begun, lines[begun + 1 :])


def _turn(heading: re.Match[str], line: int, body: list[str]) -> Turn:
    text = "\n".join(body).strip("\n")
    # A rule parts the turns of the two.
    text = text.removesuffix("\n---").rstrip("\n") if text != "---" else ""
    who = "user" if heading["who"] == "User" else "assistant"
    return Turn(who, bool(heading["side"]), instant_in(heading["note"] or ""), line + 1, text)


def parts_of(text: str) -> Iterator[Part]:
    """The assistant's words and tools in their order; its thinking is not kept."""
    position = 0
    for match in _PART.finditer(text):
        yield Part("", text[position : match.start()].strip())
        position = match.end()
        if match["inside"] is not None:
            name = _TOOL_NAME.search(match["head"])
            yield Part(name[1] if name else "tool", _FOLDING.sub("", match["inside"]).strip() or NO_OUTPUT)
    yield Part("", text[position:].strip())
