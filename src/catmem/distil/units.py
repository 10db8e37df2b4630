"""A message in units: sentences with their place in it, and whether they are the writer's own words.

The distiller selects sentences, so what a sentence is gets decided once, here. A unit never crosses a line end, a
fence or a list mark; a comma or a semicolon does not end it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from catmem.distil.foreign import (
    announces_quote,
    attributed,
    looks_pasted,
    mail_header,
    quote_spans,
    speaker_named,
    table_like,
)

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence: `text == content[start:end]`, never empty, no white space around it, list mark left out.

    fenced   inside ``` or ~~~ or ''' fences, or in an indented block
    pasted   looks like a log, code, configuration, a trace, a diff, a table or bare addresses
    quoted   somebody else's words: a `>` line, quote marks around it, a triple-quoted block, after "the README says:"
    listed   an item of a list
    """

    text: str
    start: int
    end: int
    fenced: bool = False
    pasted: bool = False
    quoted: bool = False
    listed: bool = False

    @property
    def own(self) -> bool:
        """Whether the writer says it, rather than showing it."""
        return not (self.fenced or self.pasted or self.quoted)


def units_of(content: str) -> list[Unit]:
    """The units of a message in their order. Pure; linear in the length of the message."""
    lines = _lines(content)
    fenced = _fenced_lines(lines)
    pasted = _pasted_lines(lines, fenced)
    quoted = _quoted_lines(lines, fenced)
    marks = quote_spans(content)
    units: list[Unit] = []
    for number, (start, line) in enumerate(lines):
        if fenced[number]:
            if not _is_fence(line):
                units.extend(_whole(start, line, fenced=fenced[number] == "code", quoted=fenced[number] == "text"))
            continue
        if pasted[number]:
            units.extend(_whole(start, line, pasted=True))
            continue
        units.extend(_sentences(start, line, quoted[number], marks))
    return units


# --- lines ---

_LINE = re.compile(r"[^\r\n]*")
_FENCES = {"```": "code", "~~~": "code", "'''": "code", '"""': "text"}


def _lines(content: str) -> list[tuple[int, str]]:
    return [(m.start(), m.group()) for m in _LINE.finditer(content) if m.group()]


def _is_fence(line: str) -> bool:
    """A line that is only a mark, with or without the name of a language."""
    bare = line.strip()
    return bare[:3] in _FENCES and " " not in bare and bare.count(bare[:3]) == 1


def _fenced_lines(lines: Sequence[tuple[int, str]]) -> list[str]:
    """For each line "" or what it stands in: "code" or "text". An unclosed ``` fence reaches to the end of the message;
    ''' and \"\"\" only count where they are closed, since they also end sentences of people who quote sloppily."""
    kinds = [""] * len(lines)
    number = 0
    while number < len(lines):
        mark = lines[number][1].strip()[:3]
        if mark not in _FENCES:
            number += 1
            continue
        closing = _closing(lines, number, mark)
        if closing is None:
            if mark in ("'''", '"""'):
                number += 1
                continue
            closing = len(lines) - 1
        for inside in range(number, closing + 1):
            kinds[inside] = _FENCES[mark]
        number = closing + 1
    return _indented_lines(lines, kinds)


def _closing(lines: Sequence[tuple[int, str]], opening: int, mark: str) -> int | None:
    if lines[opening][1].strip()[3:].count(mark):
        return opening
    return next((n for n in range(opening + 1, len(lines)) if mark in lines[n][1]), None)


def _indented_lines(lines: Sequence[tuple[int, str]], kinds: list[str]) -> list[str]:
    """Four blanks or a tab before it is code, as in Markdown, unless it is an item of a list or the first line."""
    for number, (_, line) in enumerate(lines):
        if number and not kinds[number] and line[:1] in (" ", "\t"):
            deep = line.startswith(("    ", "\t")) and not _LIST_MARK.match(line)
            kinds[number] = "code" if deep else ""
    return kinds


def _pasted_lines(lines: Sequence[tuple[int, str]], fenced: Sequence[str]) -> list[bool]:
    pasted = [not fenced[n] and looks_pasted(line) for n, (_, line) in enumerate(lines)]
    table = [not fenced[n] and table_like(line) for n, (_, line) in enumerate(lines)]
    for number in range(len(lines)):
        around = [n for n in (number - 1, number + 1) if 0 <= n < len(lines)]
        # One line "a: b" or "x, y, z" may be anybody's words; two in a row are a table, a header or a configuration.
        if table[number] and any(table[n] or pasted[n] for n in around):
            pasted[number] = True
    for number in range(1, len(lines) - 1):
        # A stray line of words inside a log or a trace belongs to it.
        if pasted[number - 1] and pasted[number + 1] and not fenced[number]:
            pasted[number] = True
    return pasted


def _quoted_lines(lines: Sequence[tuple[int, str]], fenced: Sequence[str]) -> list[bool]:
    """`>` lines; lines of a talk shown below the writer's own ("Customer: …"); the paragraph after a line such as
    "their mail:"; everything after the head of a mail."""
    quoted = [False] * len(lines)
    announced = False
    mail = False
    for number, (start, line) in enumerate(lines):
        after_gap = number > 0 and start - (lines[number - 1][0] + len(lines[number - 1][1])) > 1
        if announced and after_gap and quoted[number - 1]:
            announced = False
        both = mail_header(line) and any(
            mail_header(lines[n][1]) for n in (number - 1, number + 1) if 0 <= n < len(lines)
        )
        mail = mail or both
        quoted[number] = (
            mail or announced or line.lstrip().startswith((">", "＞")) or (number > 0 and speaker_named(line))
        )
        if not quoted[number] and not fenced[number] and announces_quote(line):
            announced = True
    return quoted


# --- sentences ---

_LIST_MARK = re.compile(
    r"\s*(?:[-*•·‣+]\s+|\(?\d{1,2}[.)]\s+|\d{1,2}[、）]\s*|[（(]\d{1,2}[）)]\s*|[①-⑳]\s*|\[[ xX]?\]\s+)+"
)
# Stops that may end a sentence, with the closing marks that go along.
_STOP = re.compile(r"[.!?。！？…．｡]+[\"'”’」』）)\]]*")
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
# Common English abbreviations after which a sentence goes on.
_ABBREVIATIONS = frozenset(
    """e.g i.e eg ie etc vs cf approx incl excl resp fig figs eq sec ch no nr vol p pp ca al st mr mrs ms dr prof inc
    ltd co corp dept est jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun min max
    a.k.a w.r.t u.s u.k v""".split()  # noqa: SIM905
)
# Those that may also end one: only a capital after them says so.
_MAY_END = frozenset({"etc", "inc", "ltd", "co", "corp", "al", "min", "max", "no"})


def _sentences(start: int, line: str, quoted: bool, marks: Sequence[Span]) -> Iterator[Unit]:
    mark = _LIST_MARK.match(line)
    begin = mark.end() if mark else 0
    said_by_other = quoted
    for first, last in _cuts(line, begin):
        text = line[first:last]
        span = (start + first, start + last)
        by_marks = _inside(span, text, marks)
        said_by_other = said_by_other or announces_quote(text, whole_line=False)
        foreign = said_by_other or by_marks >= _MOSTLY or (by_marks >= _PARTLY and attributed(text))
        yield Unit(text, *span, quoted=foreign, listed=bool(mark))


# A sentence of which this much stands in quote marks is a quotation; half is enough where somebody is named as saying
# it. Less is a term that the writer mentions.
_MOSTLY = 0.75
_PARTLY = 0.4


def _inside(span: Span, text: str, marks: Sequence[Span]) -> float:
    covered = sum(max(0, min(span[1], end) - max(span[0], begin)) for begin, end in marks)
    return covered / max(1, len(text))


def _cuts(line: str, begin: int) -> Iterator[Span]:
    """The sentences of a line as offsets into it."""
    code = [(m.start(), m.end()) for m in re.finditer(r"`[^`]*`", line)] if "`" in line else []
    first = begin
    for stop in _STOP.finditer(line, begin):
        if any(a < stop.start() < b for a, b in code) or not _ends(line, first, stop):
            continue
        yield from _trimmed(line, first, stop.end())
        first = stop.end()
    yield from _trimmed(line, first, len(line))


def _ends(line: str, first: int, stop: re.Match[str]) -> bool:
    """Whether a stop ends a sentence. A dot inside a name, number or address has no blank after it."""
    following = line[stop.end() : stop.end() + 1]
    before = line[stop.start() - 1 : stop.start()]
    mark = stop.group()[0]
    if mark in "。！？｡．":
        return True
    if following and not following.isspace():
        # Half-width stops between Chinese words, as in "好了.然后"; but "域.实体.动作" is one dotted name.
        dotted = "." in line[stop.end() : stop.end() + 6] or "." in line[max(first, stop.start() - 5) : stop.start()]
        return bool(_CJK.match(following)) and (mark in "!?" or bool(_CJK.match(before) and not dotted))
    if mark in "!?":
        return True
    rest = line[stop.end() :].lstrip()
    if mark == "…" or stop.group().startswith(".."):
        # An ellipsis is mostly a breath inside the sentence.
        return not rest or rest[:1].isupper()
    word = re.split(r"[\s(（\[\"'“]", line[first : stop.start()])[-1].lower()
    if word in _ABBREVIATIONS:
        return not rest or (word in _MAY_END and rest[:1].isupper())
    # A single letter is an initial or "a." of an enumeration; a lone number opens a list in a line.
    return not rest or (
        not (len(word) == 1 and word.isascii() and word.isalpha() and word != "i")
        and not (word.isdigit() and stop.start() - first <= 2)
    )


def _trimmed(line: str, first: int, last: int) -> Iterator[Span]:
    text = line[first:last]
    begin = first + len(text) - len(text.lstrip())
    end = first + len(text.rstrip())
    if begin >= end:
        return
    if any(c.isalnum() for c in line[begin:end]):
        yield begin, end


def _whole(
    start: int, line: str, *, fenced: bool = False, pasted: bool = False, quoted: bool = False
) -> Iterator[Unit]:
    for first, last in _trimmed(line, 0, len(line)):
        yield Unit(line[first:last], start + first, start + last, fenced, pasted, quoted)
