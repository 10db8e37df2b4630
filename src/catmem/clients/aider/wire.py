"""Lines of `.aider.chat.history.md`: who speaks, by the prefix and by what the program puts at line ends.

aider ends each line of the person (`#### `) and of its own output (`> `) with two blanks. So a heading or a quotation
in a reply, which begins alike, can be told from them, unless an editor stripped the blanks.
"""

from __future__ import annotations

import re
from typing import Literal

Speaker = Literal["user", "program", "assistant", "blank"]

STARTED = re.compile(r"# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\s*\Z")
STARTED_BYTES = re.compile(rb"^# aider chat started at \d{4}-\d\d-\d\d \d\d:\d\d:\d\d", re.MULTILINE)
MARKED = re.compile(rb"(?:####|>) .*\S  \r?\Z", re.DOTALL)
_PREFIXES: tuple[tuple[Speaker, str], ...] = (("user", "####"), ("program", ">"))


def speaker_of(line: str, *, marked: bool) -> Speaker:
    """Who wrote a line; `marked` tells that this file has the blanks at line ends."""
    if not line.strip():
        return "blank"
    for speaker, prefix in _PREFIXES:
        if line == prefix or line.startswith(prefix + " "):
            return speaker if line.endswith("  ") or not marked else "assistant"
    return "assistant"


def words_of(line: str, speaker: Speaker) -> str:
    """A line without its prefix and the blanks at its end."""
    prefix = dict(_PREFIXES).get(speaker)
    return line.removeprefix(prefix).removeprefix(" ").removesuffix("  ") if prefix else line
