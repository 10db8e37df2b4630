"""Filling a brief up to its limits: whole lines, the most important first (hot path)."""

from __future__ import annotations

from catmem.brief.bounds import MOST_BYTES
from catmem.brief.render import heading, line
from catmem.brief.words import CLOSING, OPENING, WORDS
from catmem.text.cut import estimate_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from catmem.index.documents import Record

    Lines = list[tuple[str, str]]
    Section = tuple[str, Lines]
    Kept = dict[str, Lines]

# Of what the frame leaves, so much is open to each section of the card; the history takes the rest.
_SHARES = {"facts": 0.35, "progress": 0.12, "decisions": 0.2, "questions": 0.1}


def fit(
    sections: Sequence[tuple[str, list[Record]]], language: str, *, tokens: int, profile_tokens: int
) -> tuple[str, list[str]]:
    """The text of a brief of at most `tokens` and MOST_BYTES, and the ids that stand in it; ("", []) for none.

    Takes lines as long as they fit and goes on with the next shorter one where one does not. Each section but the
    history has a share of its own, so that many conventions do not hide where the work stopped; what the others leave
    of the whole is open to it, too.
    """
    room = tokens - estimate_tokens(_frame([], language))
    kept: Kept = {}
    for name, records in sections:
        share = profile_tokens if name == "profile" else int(room * _SHARES.get(name, 1.0))
        left = tokens - estimate_tokens(_frame(_in_order(sections, kept), language))
        kept[name] = _lines_within(name, records, language, min(share, left))
    for name, records in sections:
        if name in _SHARES and len(kept[name]) < len(records):
            left = tokens - estimate_tokens(_frame(_in_order(sections, {**kept, name: []}), language))
            more = {**kept, name: _lines_within(name, records, language, left)}
            kept = more if _fits(_frame(_in_order(sections, more), language), tokens) else kept
    told = _in_order(sections, kept)
    while told and not _fits(text := _frame(told, language), tokens):
        _drop_last(told)
    return (text, [id for _, lines in told for id, _ in lines]) if told else ("", [])


def _in_order(sections: Sequence[tuple[str, list[Record]]], kept: Kept) -> list[Section]:
    """The sections that have lines, in the order of the brief."""
    return [(name, [*kept[name]]) for name, _ in sections if kept.get(name)]


def _lines_within(name: str, records: Sequence[Record], language: str, allowed: int) -> Lines:
    """The lines of a section, each with the id of its memory, within so many tokens, the heading included."""
    used = estimate_tokens(heading(name, language)) + 1
    lines = []
    for record in records:
        text = line(record, language)
        cost = estimate_tokens(text) + 1
        if used + cost <= allowed:
            used += cost
            lines.append((record["id"], text))
    return lines


def _fits(text: str, tokens: int) -> bool:
    return estimate_tokens(text) <= tokens and len(text.encode("utf-8", "surrogatepass")) <= MOST_BYTES


def _drop_last(kept: list[Section]) -> None:
    kept[-1][1].pop()
    if not kept[-1][1]:
        kept.pop()


def _frame(kept: Sequence[Section], language: str) -> str:
    words = WORDS[language]
    lines = [OPENING, words["before"]]
    for name, section in kept:
        lines.append(heading(name, language))
        lines += [text for _, text in section]
    return "\n".join([*lines, words["after"], CLOSING])
