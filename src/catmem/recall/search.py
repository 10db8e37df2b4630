"""Search over everything that was ever said: verbatim passages, with the lines around what was looked for."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, NotRequired, TypedDict

from catmem.index.documents import Record, session_term
from catmem.index.scope import Scope
from catmem.recall.asking import Asking, milliseconds
from catmem.recall.passage_words import PassageWords
from catmem.recall.query import Query
from catmem.recall.rank import rank
from catmem.recall.relevance import Relevance
from catmem.recall.titles import TITLE
from catmem.recall.turns import Turn
from catmem.text.tokens import tokens

if TYPE_CHECKING:
    from catmem.recall.period import Period

# The most that one search shows. Of each kind of hit so many are ranked, whatever the limit is, so that the best 5 of
# a search for 100 are those of a search for 5.
MOST = 200
# Of a line without an end, a paragraph of Chinese or a log, so much is shown on each side of the first word met.
_BESIDE = 80
GAP = "…"

ROLES: Sequence[str] = ("user", "assistant", "tool")
"""Whose words are searched; `tool` is what assistants gave to tools and what came back."""
# In what order: what has every word before what has some of them, and what people said before what tools did.
_CLASSES = tuple((every, type) for every in (True, False) for type in ("passage", "output"))


class Passage(TypedDict):
    """Something that was said: `text` verbatim, `lines` what of it is about the words, parted by `…`.

    `complete` tells that it has every word; `same` how many more passages say the very same; `same_turn` which other
    messages of its turn have the words, too. `turn` is absent if the session cannot be read.
    """

    project: str
    session: str
    message_id: int
    role: str
    at: str
    score: float
    complete: bool
    same: int
    same_turn: list[int]
    text: str
    lines: list[str]
    turn: NotRequired[Turn]


class Found(TypedDict):
    """`items` are best first; `period` is the day that the words named, where it was read."""

    mode: str
    items: list[Passage]
    period: NotRequired[Period]


class Searcher(Asking):
    """Searches the passages of a data directory's index; one result a turn where `talks` are at hand."""

    def search(
        self,
        words: str,
        *,
        project: str | None,
        role: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int = 20,
        context: int = 1,
        read_days: bool = False,
    ) -> Found:
        """The passages that have the words: first those that have all of them, then those with the most telling ones.

        What tools were given and gave back comes after what was said, of either kind. Of several in one turn the first
        stands for it.

        project       with all that was merged into it; None for every project
        role          one of ROLES; None for all
        since, until  stamps, both included
        limit         at most so many, up to MOST
        context       lines before and after each line that has a word
        read_days     a day that the words name ("yesterday") is taken out of them and bounds the search

        Any text is a safe query. Raises DataDamaged if the index cannot be read and there is nobody to mend it.
        """
        period = None
        if read_days:
            words, period, since, until = self._days_of(words, since, until)
        query = Query(words)
        scope = Scope(
            projects=None if project is None else (project,),
            kinds=(role,) if role else (),
            since=milliseconds(since),
            until=milliseconds(until),
        )
        hits = self._ask(lambda: list(self._hits(query, scope))) or []
        if period and not hits:
            # Nothing was said about it then; what was said at other times is better than nothing.
            hits = self._ask(lambda: list(self._hits(query, scope.whenever()))) or []
            period = {**period, "missed": True} if hits else period
        hits = self._talks.by_turn(hits, limit) if self._talks else hits[:limit]
        found = Found(mode="keyword", items=[_passage(hit, query, context) for hit in hits])
        return {**found, "period": period} if period else found

    def _hits(self, query: Query, scope: Scope) -> Iterator[Record]:
        """The hits class by class. All of them, whatever the limit: which of them are of one turn is not known yet."""
        seen: set[str] = set()
        for every, type in _CLASSES:
            if not query.terms or not _ROLES_OF[type].issuperset(scope.kinds):
                continue
            found = self._reader.search(query.terms, scope.only(type), every=every, limit=MOST)
            for hit in _folded(self._ranked(found, query, type, every), every):
                if _said(hit) not in seen:
                    seen.add(_said(hit))
                    yield hit

    def _ranked(self, found: list[Record], query: Query, type: str, every: bool) -> list[Record]:
        asked = [token for unit in query.units for token in unit]
        for hit in found:
            words: Container[str] = PassageWords(hit["text"])
            sure = all(t in words for t in query.everything) if every else any(t in words for t in asked)
            # The index knows better: a word may be met by a stem that is spelled otherwise.
            hit["word_set"] = words if sure else frozenset(tokens(hit["text"]))
        measure = Relevance(query, self._reader.count(type), self._reader.frequencies(type, asked))
        # Who searches by hand wants what is there; how relevant it is tells the order.
        return rank(found, query, measure, self._weighing(threshold=0.0, searched=True))


_ROLES_OF = {"passage": frozenset({"user", "assistant"}), "output": frozenset({"tool"})}


def _folded(hits: Sequence[Record], complete: bool) -> list[Record]:
    """The first of those that say the very same, with how many more there are."""
    kept: dict[str, Record] = {}
    for hit in hits:
        hit["complete"] = complete
        twin = kept.setdefault(_said(hit), hit)
        if twin is not hit:
            twin["folded"] = twin.get("folded", 0) + 1
    return list(kept.values())


def _said(hit: Record) -> str:
    """The text, however its letters are cased and its words spaced. Two conversations that are called alike are two."""
    said = " ".join(hit["text"].casefold().split())
    return f"{said}\n{session_term(hit['project'], hit['session'])}" if hit["kind"] == TITLE else said


def _passage(hit: Record, query: Query, context: int) -> Passage:
    passage = Passage(
        project=hit["project"],
        session=hit["session"],
        message_id=hit["message_id"],
        role=hit["kind"],
        at=hit["at"],
        score=hit["score"],
        complete=hit["complete"],
        same=hit.get("folded", 0),
        same_turn=hit.get("same_turn", []),
        text=hit["text"],
        lines=lines_about(hit["text"], frozenset(hit["matched"]) | frozenset(query.everything), context),
    )
    return {**passage, "turn": hit["turn"]} if "turn" in hit else passage


def lines_about(text: str, wanted: Container[str], context: int) -> list[str]:
    """The lines of a text that have a wanted token, each with `context` lines around it; `…` stands for what is left out.

    A line that is very long is cut around the first word met. Where no line has one (words that met only together),
    the first line stands for the text.
    """
    lines = text.strip("\n").split("\n")
    told = [number for number, line in enumerate(lines) if any(token in wanted for token in tokens(line))] or [0]
    shown = sorted({near for n in told for near in range(n - context, n + context + 1) if 0 <= near < len(lines)})
    excerpt: list[str] = []
    before = -1
    for number in shown:
        if number > before + 1:
            excerpt.append(GAP)
        excerpt.append(_cut(lines[number], wanted))
        before = number
    return [*excerpt, GAP] if before < len(lines) - 1 else excerpt


def _cut(line: str, wanted: Container[str]) -> str:
    if len(line) <= 2 * _BESIDE + _BESIDE:
        return line
    met = _first_met(line, wanted)
    start, end = max(0, met - _BESIDE), met + 2 * _BESIDE
    return (GAP if start else "") + line[start:end].strip() + (GAP if end < len(line) else "")


def _first_met(line: str, wanted: Container[str]) -> int:
    """About where the first wanted word stands: words of other scripts than Latin are met by pairs of characters."""
    step = _BESIDE // 2
    for start in range(0, len(line), step):
        if any(token in wanted for token in tokens(line[start : start + _BESIDE])):
            return start
    return 0
