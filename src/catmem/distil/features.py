"""A sentence and its context as named features.

One stream of atoms serves both languages and their mixture: a Chinese character, a Latin word, a mark. Names, numbers,
versions and paths back off to their shapes, so that "we use jest" and "we use mocha" teach the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from catmem.distil.units import Unit


@dataclass(frozen=True, slots=True)
class Context:
    """Where a unit stands.

    before, after    the assistant's messages around the user's; only the end of the one and the head of the other count
    earlier, later   the neighbouring sentences of the same message
    unit, units      place in the message, and how many units it has
    turn, turns      place of the message among the user's of this session so far, and how many those are
    """

    before: str = ""
    after: str = ""
    earlier: str = ""
    later: str = ""
    unit: int = 0
    units: int = 1
    turn: int = 0
    turns: int = 1


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """`common`: Latin words that stand for themselves. `cues`: runs of atoms joined by blanks -> their groups."""

    common: Set[str]
    cues: Mapping[str, tuple[str, ...]]


Group = tuple[str, list[str]]
"""The name of a group of features, and those of the sentence; the weight of a feature depends on its group's size."""


def features_of(unit: Unit, context: Context, vocabulary: Vocabulary) -> list[Group]:
    """All features of a unit, by group. Names may occur twice; whoever reads them counts each once."""
    pieces = _ATOM.findall(unit.text)
    atoms = [_atom(piece, vocabulary.common) for piece in pieces]
    runs = list(grams(atoms, 3, 4))
    return [
        ("words", runs),
        ("names", _names(pieces, vocabulary.common)),
        ("cues", _cues(runs, vocabulary.cues)),
        ("form", _form(unit, pieces, atoms)),
        ("place", _place(context)),
        ("reply", ["a:" + run for run in grams(atoms_of(context.after[:90], vocabulary.common)[:14], 2, 2)]),
        ("near", _near(context, vocabulary.common)),
    ]


# --- atoms ---

_ATOM = re.compile(
    r"`[^`\n]+`|\[secret:[^\]]*\]|[a-z]+://\S+|[A-Za-z0-9_@/~.\\-]*[A-Za-z0-9_](?:['’][a-z]+)?(?:\+\+|#)?|"
    r"[\u3040-\u30ff\u3400-\u9fff]|[^\sA-Za-z0-9_\u3040-\u30ff\u3400-\u9fff]"
)
_PLAIN = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?$")
_SHAPES = (
    ("<number>", re.compile(r"[-~]?\d+(?:[.,]\d+)*$")),
    ("<secret>", re.compile(r"\[secret:")),
    ("<url>", re.compile(r"[a-z]+://")),
    ("<version>", re.compile(r"[vV]?\d+(?:\.\d+)+[\w.-]*$")),
    ("<measure>", re.compile(r"[-~]?\d+(?:[.,]\d+)*[A-Za-z%]{1,4}$")),
    ("<path>", re.compile(r".*[/\\]")),
    ("<hyphened>", re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)+$")),
    ("<identifier>", re.compile(r".*[^\W_]")),
)
_HALF_WIDTH = str.maketrans("，。！？：；（）“”‘’", ",.!?:;()\"\"''")


def atoms_of(text: str, common: Set[str]) -> list[str]:
    """The atoms of a text; Latin words outside `common` become their shapes."""
    return [_atom(piece, common) for piece in _ATOM.findall(text)]


def words_of(text: str) -> list[str]:
    """The Latin words of a text, as they are looked up among the common words."""
    return [_low(piece) for piece in _ATOM.findall(text) if _PLAIN.match(piece)]


def _low(piece: str) -> str:
    return piece.lower().replace("’", "'")


def _atom(piece: str, common: Set[str]) -> str:
    if len(piece) == 1 and not piece.isalnum():
        return piece.translate(_HALF_WIDTH)
    if not piece.isascii() and len(piece) == 1:
        return piece
    if _PLAIN.match(piece):
        low = _low(piece)
        if low in common:
            return low
        if piece.islower():
            return "<word>"
        if piece.isupper():
            return "<CAPITALS>"
        return "<Name>" if piece[1:].islower() else "<CamelCase>"
    if piece[0] == "`":
        return "<code>"
    return next((name for name, shape in _SHAPES if shape.match(piece)), piece)


def grams(atoms: Sequence[str], longest: int, longest_chinese: int) -> Iterator[str]:
    """All runs of up to `longest` atoms, or `longest_chinese` where one of them is Chinese, joined by blanks."""
    framed = ["<", *atoms, ">"]
    count = len(framed)
    for size in range(1, longest + 1):
        for first in range(count - size + 1):
            yield " ".join(framed[first : first + size])
    for size in range(longest + 1, longest_chinese + 1):
        for first in range(count - size + 1):
            run = " ".join(framed[first : first + size])
            if not run.isascii():
                yield run


# --- groups ---


def _names(pieces: Iterable[str], common: Set[str]) -> list[str]:
    """The rarer words themselves, alone: their runs know only the shape."""
    return ["n:" + low for low in (_low(p) for p in pieces if _PLAIN.match(p)) if low not in common]


def _cues(runs: Iterable[str], cues: Mapping[str, tuple[str, ...]]) -> list[str]:
    found = sorted({group for run in runs if run in cues for group in cues[run]})
    pairs = [f"c:{one}+{other}" for n, one in enumerate(found) for other in found[n + 1 :]]
    return [f"c:{group}" for group in found] + pairs


# Upper bounds of the classes of length, in atoms: roughly a word of assent, a phrase, a short, usual, long sentence.
_LENGTHS = (4, 8, 12, 18, 26, 40)


def _form(unit: Unit, pieces: Sequence[str], atoms: Sequence[str]) -> list[str]:
    """Length, last mark, clauses, marks of quotation and code, digits, how much is names, how much Chinese."""
    text = unit.text
    shapes = sum(1 for atom in atoms if len(atom) > 1 and atom[0] == "<")
    chinese = sum(1 for piece in pieces if len(piece) == 1 and not piece.isascii() and piece.isalnum())
    form = [
        f"l:length{sum(len(pieces) >= bound for bound in _LENGTHS)}",
        f"l:end{'' if text[-1].isalnum() else text[-1].translate(_HALF_WIDTH)}",
        f"l:clauses{min(3, sum(1 for c in text if c in ',，、;；'))}",
        f"l:shapes{min(4, shapes)}",
        f"l:chinese{int(3.99 * chinese / max(1, len(pieces)))}",
    ]
    for name, holds in (
        ("quote", any(c in text for c in '“”"「')),
        ("brackets", "(" in text or "（" in text),
        ("code", "`" in text),
        ("digits", any(c.isdigit() for c in text)),
        ("capital", text[0].isupper()),
        ("listed", unit.listed),
    ):
        if holds:
            form.append("l:" + name)
    return form


def _place(context: Context) -> list[str]:
    """Not how many messages follow: that changes while a session runs, and a score must not."""
    place = [
        f"p:unit{min(context.unit, 3)}",
        f"p:behind{min(context.units - 1 - context.unit, 3)}",
        f"p:units{min(context.units, 5)}",
        f"p:turn{min(context.turn, 3)}",
    ]
    if not context.after:
        place.append("p:unanswered")
    if not context.before:
        place.append("p:opening")
    elif context.before.rstrip()[-1:] in ("?", "？"):
        place.append(f"p:asked{min(context.unit, 1)}")
    return place


def _near(context: Context, common: Set[str]) -> list[str]:
    """The words around: the end of what stands before in the message, the head of what follows."""
    return [f"e:{atom}" for atom in atoms_of(context.earlier[-60:], common)[-8:]] + [
        f"f:{atom}" for atom in atoms_of(context.later[:60], common)[:8]
    ]
