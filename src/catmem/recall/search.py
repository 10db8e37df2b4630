"""Search over everything that was ever said: verbatim passages, with the lines around what was looked for."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import TypedDict

from catmem.domain.clock import Clock, seconds_of, system_clock
from catmem.domain.errors import NotFound
from catmem.index.documents import Record
from catmem.index.mending import ask_mending
from catmem.index.reader import SearchReader
from catmem.recall.query import Query
from catmem.recall.rank import rank, words_of
from catmem.recall.relevance import Relevance
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings
from catmem.text.tokens import tokens

# So many are ranked, whatever the limit is, so that the best 5 of a search for 100 are those of a search for 5.
MOST = 200
# Of a line without an end, a paragraph of Chinese or a log, so much is shown on each side of the first word met.
_BESIDE = 80
GAP = "…"


class Passage(TypedDict):
    """Something that was said: `text` verbatim, `lines` what of it is about the words, parted by `…`.

    `complete` tells that it has every word; `same` how many more passages say the very same.
    """

    project: str
    session: str
    message_id: int
    role: str
    at: str
    score: float
    complete: bool
    same: int
    text: str
    lines: list[str]


class Searcher:
    """Searches the passages of a data directory's index, which must have caught up before.

    `mend` makes the index anew; it is called when the index proves to be damaged.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        clock: Clock = system_clock,
        mend: Callable[[], object] | None = None,
    ) -> None:
        self._reader = SearchReader(str(paths.search))
        self._settings = settings
        self._clock = clock
        self._mend = mend

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
    ) -> list[Passage]:
        """The passages that have the words: first those that have all of them, then those with the most telling ones.

        project       with all that was merged into it; None for every project
        role          `user` or `assistant`
        since, until  stamps, both included
        limit         at most so many, up to MOST
        context       lines before and after each line that has a word

        Any text is a safe query. Raises DataDamaged if the index cannot be read and there is nobody to mend it.
        """
        query = Query(words)

        def ask() -> list[Record]:
            if not query.terms:
                return []
            found = self._reader.search(
                query.terms,
                types=("passage",),
                projects=None if project is None else (project,),
                kinds=(role,) if role else (),
                since=_milliseconds(since),
                until=_milliseconds(until),
                limit=MOST,
            )
            return self._ranked(found, query) if found else []

        try:
            hits = ask_mending(self._reader, ask, self._mend)
        except NotFound:
            # Nothing was ever indexed, so there is nothing to find.
            return []
        complete_first = sorted(hits, key=lambda hit: not _is_complete(hit, query))
        return [_passage(hit, query, context) for hit in complete_first[:limit]]

    def _ranked(self, found: list[Record], query: Query) -> list[Record]:
        for hit in found:
            # All its tokens: that a hook asks only whether a stem stands in a text is for the hook's haste.
            hit["word_set"] = frozenset(tokens(hit["text"]))
        asked = [token for unit in query.units for token in unit]
        measure = Relevance(query, self._reader.count("passage"), self._reader.frequencies("passage", asked))
        ranked = rank(
            found,
            query,
            measure,
            now=round(self._clock() * 1000),
            half_lives=self._settings.recency_half_life_days,
            # Who searches by hand wants what is there; how relevant it is tells the order.
            threshold=0.0,
            searched=True,
        )
        return _folded(ranked)


def _folded(hits: Sequence[Record]) -> list[Record]:
    """The first of those that say the very same, with how many more there are."""
    kept: dict[str, Record] = {}
    for hit in hits:
        twin = kept.setdefault(" ".join(hit["text"].casefold().split()), hit)
        if twin is not hit:
            twin["folded"] = twin.get("folded", 0) + 1
    return list(kept.values())


def _passage(hit: Record, query: Query, context: int) -> Passage:
    return Passage(
        project=hit["project"],
        session=hit["session"],
        message_id=hit["message_id"],
        role=hit["kind"],
        at=hit["at"],
        score=hit["score"],
        complete=_is_complete(hit, query),
        same=hit.get("folded", 0),
        text=hit["text"],
        lines=lines_about(hit["text"], frozenset(hit["matched"]) | frozenset(query.everything), context),
    )


def _is_complete(hit: Record, query: Query) -> bool:
    has = words_of(hit)
    return all(token in has for token in query.everything)


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


def _milliseconds(stamp: str | None) -> int | None:
    return None if stamp is None else round(seconds_of(stamp) * 1000)


ROLES: Sequence[str] = ("user", "assistant")
"""Whose words are searched: those of tools and harnesses are kept, but nobody said them."""
