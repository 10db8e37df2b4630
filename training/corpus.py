"""The training corpus read as the distiller will see it: messages of sessions, their units, and a label for each unit.

The corpus has one sentence a line; here the lines of a message are joined to the text that a person would have sent,
that text is split by the real `units_of`, and each label goes to the units that overlap its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from catmem.distil.features import Context
from catmem.distil.units import Unit, units_of

CORPUS = Path(__file__).with_name("corpus")
KINDS = {
    "P": "preference",
    "E": "environment",
    "C": "convention",
    "D": "decision",
    "Q": "question",
    "G": "progress",
    "ACC": "accept",
    "RET": "retract",
}  # fmt: skip
REASONS = (
    "oneoff hypo quote ask sarcasm chat task report paste retracted rejected past other temp secret suggest".split()  # noqa: SIM905
)
_TAG = re.compile(r"\[(?:(P|E|C|D|Q|G|ACC|RET)(?: old=([^\]]*))?|n:(\w+))\]\s*")
_CJK = re.compile(r"[\u3400-\u9fff]")


@dataclass(slots=True)
class Line:
    text: str
    label: str  # a value of KINDS, one of REASONS, or "plain"
    old: str
    where: str  # file:line


@dataclass(slots=True)
class Said:
    role: str
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Chat:
    """A chat of one project: `sessions[n]` is a list of messages."""

    name: str
    language: str
    sessions: list[list[Said]] = field(default_factory=lambda: [[]])


@dataclass(frozen=True, slots=True)
class Example:
    """A unit in its context, with its label and where it stands in the corpus."""

    unit: Unit
    context: Context
    label: str
    chat: int
    language: str
    where: str
    role: str

    @property
    def kind(self) -> str:
        """The label with all reasons for "nothing" taken together."""
        return self.label if self.label in KINDS.values() else "none"


def read_chats(folder: Path = CORPUS) -> list[Chat]:
    """All chats of all files, in the order of their names. Raises ValueError on a malformed line."""
    chats: list[Chat] = []
    for path in sorted(folder.glob("*.txt")):
        chats.extend(_chats_of(path))
    return chats


def _chats_of(path: Path) -> Iterator[Chat]:
    chat: Chat | None = None
    for number, raw in enumerate(path.read_text("utf-8").splitlines(), 1):
        where, line = f"{path.name}:{number}", raw.rstrip()
        if line.startswith("== "):
            if chat:
                yield chat
            language, _, name = line[3:].partition("|")
            chat = Chat(name.strip(), language.strip())
        elif not line.strip() and not (chat and _fence_open(chat.sessions[-1])):
            continue
        elif chat is None:
            raise ValueError(f"{where}: text before the first `== language | project`")
        elif line.strip() == "-- later":
            chat.sessions.append([])
        elif line[:2] in ("U:", "A:"):
            chat.sessions[-1].append(Said("user" if line[0] == "U" else "assistant", [_line(line[2:].strip(), where)]))
        elif chat.sessions[-1]:
            chat.sessions[-1][-1].lines.append(_line(line, where))
        else:
            raise ValueError(f"{where}: a line outside a message")
    if chat:
        yield chat


def _fence_open(session: list[Said]) -> bool:
    return bool(session) and sum(line.text.startswith("```") for line in session[-1].lines) % 2 == 1


def _line(text: str, where: str) -> Line:
    tag = _TAG.match(text)
    if not tag:
        return Line(text, "plain", "", where)
    kind, old, why = tag.groups()
    if why and why not in REASONS:
        raise ValueError(f"{where}: unknown reason {why}")
    return Line(text[tag.end() :], KINDS[kind] if kind else why, old or "", where)


def message_text(said: Said) -> tuple[str, list[tuple[int, int, Line]]]:
    """The text of a message and the span of each corpus line in it.

    Lines that end as sentences end are joined by a blank (by nothing in Chinese), the others by a line break: a person
    who sets no stop presses return.
    """
    text, spans = "", []
    fenced = False
    for line in said.lines:
        is_fence = line.text.startswith("```")
        if text:
            stopped = text[-1] in ".!?。！？…" and not fenced and not is_fence
            text += ("" if text[-1] in "。！？" else " ") if stopped else "\n"
        spans.append((len(text), len(text) + len(line.text), line))
        text += line.text
        fenced ^= is_fence
    return text, spans


def examples(chats: list[Chat], role: str = "user") -> Iterator[Example]:
    """The labelled units of one role, in order."""
    for number, chat in enumerate(chats):
        for session in chat.sessions:
            texts = [message_text(said) for said in session]
            for place, said in enumerate(session):
                if said.role == role:
                    yield from _of_message(number, chat.language, session, texts, place)


def _of_message(
    chat: int, language: str, session: list[Said], texts: list[tuple[str, list[tuple[int, int, Line]]]], place: int
) -> Iterator[Example]:
    text, spans = texts[place]
    units = units_of(text)
    before = texts[place - 1][0] if place and session[place - 1].role != session[place].role else ""
    after = texts[place + 1][0] if place + 1 < len(session) and session[place + 1].role != session[place].role else ""
    mine = [n for n, said in enumerate(session) if said.role == session[place].role]
    for number, unit in enumerate(units):
        line = max(spans, key=lambda span: min(unit.end, span[1]) - max(unit.start, span[0]))[2]
        context = Context(
            before=before,
            after=after,
            earlier=units[number - 1].text if number else "",
            later=units[number + 1].text if number + 1 < len(units) else "",
            unit=number,
            units=len(units),
            turn=mine.index(place),
            turns=len(mine),
        )
        yield Example(unit, context, line.label, chat, language, line.where, session[place].role)
