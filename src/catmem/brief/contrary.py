"""Do two statements contradict each other, or say the same? By their senses, as text/sense writes them (hot path)."""

from __future__ import annotations


class Sense:
    """`clauses` are (denied, words); `measures` the numbers that measure; `words` all words of all clauses; `topics` the
    same, each alternative as the choice that it is one of."""

    __slots__ = ("clauses", "measures", "topics", "words")

    def __init__(self, written: str) -> None:
        parts = written.split(";") if written else []
        self.measures = parts.pop() if parts and parts[-1].startswith("#") else ""
        self.clauses = [(part.startswith("!"), frozenset(part.lstrip("!").split(","))) for part in parts]
        self.words = frozenset().union(*(words for _, words in self.clauses))
        self.topics = frozenset("".join(word.partition("=")[:2]) if "=" in word else word for word in self.words)


def contradict(one: Sense, other: Sense) -> bool:
    """True if not both can be heeded: one denies what the other says, or they differ in a choice or a measure."""
    if one.measures != other.measures and one.words == other.words:
        return bool(one.measures and other.measures and one.words)
    return any(
        (a == b if a_denied != b_denied else not a_denied and _choose_differently(a, b))
        for a_denied, a in one.clauses
        for b_denied, b in other.clauses
    )


def say_the_same(one: Sense, other: Sense) -> bool:
    """True for two wordings of one statement, be it in two languages."""
    return bool(one.clauses) and one.clauses == other.clauses and one.measures == other.measures


def _choose_differently(one: frozenset[str], other: frozenset[str]) -> bool:
    """True for clauses that are alike but for one word, of which each has another alternative of the same choice; if
    that is a choice with a `?`, they have to share a word."""
    if len(one) != len(other) or len(one & other) != len(one) - 1:
        return False
    (mine,), (theirs,) = one - other, other - one
    choice = mine.partition("=")[0]
    different = choice != mine and choice == theirs.partition("=")[0]
    return different and (len(one) > 1 or not choice.startswith("?"))
