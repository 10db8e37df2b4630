"""Subject, predicate and object of a kept statement, and whether it can have one object at a time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from catmem.distil.slots import Filling, fillings
from catmem.domain.likeness import terms
from catmem.domain.memory import Kind, normal

PREDICATES: dict[Kind, str] = {
    "preference": "prefers",
    "environment": "has",
    "convention": "follows",
    "decision": "decided",
    "question": "has open",
    "progress": "stands at",
    "note": "notes",
}
# A statement is only about its slot while it says little else: beside the value, this much weight of terms.
_LITTLE = 3.5
_MOST_TAGS = 6
_NAME = re.compile(r"`([^`\n]{2,40})`|(?<![\w/.])([A-Za-z][\w+-]*(?:[./][\w.+-]+)*[\w+#])")


@dataclass(frozen=True, slots=True)
class Triple:
    subject: str
    predicate: str
    object: str
    single: bool
    tags: tuple[str, ...]


def triple_of(text: str, kind: Kind) -> Triple:
    """The triple of a statement. Without a slot its object is the statement itself, and there can be many."""
    filled = fillings(text)
    tags = _tags(text, filled)
    if kind not in ("question", "progress"):
        for filling in filled:
            if filling.slot.single and len(filling.kept) == 1 and _is_about(text, filling):
                return Triple(filling.subject, "uses", filling.kept[0], True, tags)
    subject = "user" if kind == "preference" else "project"
    return Triple(subject, PREDICATES[kind], normal(text), False, tags)


def _is_about(text: str, filling: Filling) -> bool:
    own = {term for name in (*filling.kept, *filling.dropped) for term in terms(name)}
    rest = sum(weight for term, weight in terms(text).items() if term not in own)
    return rest <= _LITTLE


def _tags(text: str, filled: Sequence[Filling]) -> tuple[str, ...]:
    """The slots, then the names in the text: identifiers, paths and Latin words in Chinese sentences."""
    names = [filling.slot.name for filling in filled]
    chinese = bool(re.search(r"[\u3400-\u9fff]", text))
    for quoted, word in _NAME.findall(text):
        name = quoted or word
        marked = bool(re.search(r"[\d_./+#-]", name)) or name[1:].lower() != name[1:]
        if (quoted or marked or (chinese and len(name) > 2)) and terms(name):
            names.append(name)
    return tuple(dict.fromkeys(name.lower() for name in names))[:_MOST_TAGS]
