"""Recall: a query becomes ranked memories and passages, as design 11 prints them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NotRequired, TypedDict

from catmem.domain.clock import Clock, system_clock
from catmem.index import layout
from catmem.index.documents import Record
from catmem.index.scope import TYPES, Scope
from catmem.llm.port import Embedder
from catmem.recall.asking import Asking, milliseconds
from catmem.recall.fuse import ranked_by_both
from catmem.recall.past import is_about_the_past, is_told_as_past
from catmem.recall.period import bare_period, bounds_of, period_in
from catmem.recall.query import Query
from catmem.recall.rank import Weighing, fold
from catmem.recall.semantic import Meaning
from catmem.recall.then import said_then
from catmem.recall.titles import titled, with_titles
from catmem.recall.turns import Talks, Turn
from catmem.recall.typed import Typed, typed
from catmem.recall.why import why
from catmem.settings.language import language_of
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings

if TYPE_CHECKING:
    from catmem.recall.period import Period

FACTORS = ("relevance", "bm25", "akin", "alike", "recency", "timely", "confirmations", "pinned", "folded")
"""What ranking knows of a hit: how much of the query it has, and how tellingly; the share that it has in other words for
the same thing; how alike it is in meaning, by an embedder; its age and how well it fits a month or day that was named; in
how many sessions it was said."""


class Item(TypedDict):
    type: str
    id: str
    text: str
    kind: str
    scope: str
    project: str
    score: float
    why: str
    session: str
    message_id: int
    at: str
    explain: NotRequired[dict[str, float]]
    turn: NotRequired[Turn]


class Recall(TypedDict):
    """`mode` says by what means the items were found; `items` are best first.

    `period` is the day that the query named, where it was read (see Recaller.recall).
    """

    mode: str
    items: list[Item]
    period: NotRequired[Period]


class _Asked(NamedTuple):
    """A query as it is searched for. Of one that was typed to search with, "phrases" must stand in a text, and a text with
    a -word is left out."""

    read: Typed
    query: Query
    scope: Scope
    weighing: Weighing


# Of a turn several passages may be found, which become one; where that leaves too few, as many more are looked at.
_OF_ONE_TURN = 2


class Recaller(Asking):
    """Recalls what is relevant enough: memories, and passages of what was said, one a turn where `talks` are at hand. Who
    types a search finds conversations by their titles, too.

    By words and, with an `embedder` and vectors of its model, by meaning.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        clock: Clock = system_clock,
        mend: Callable[[], object] | None = None,
        talks: Talks | None = None,
        embedder: Embedder | None = None,
    ) -> None:
        super().__init__(paths, settings, clock, mend, talks)
        self._meaning = Meaning(paths.search, embedder)

    def recall(
        self,
        query: str,
        *,
        project: str | None,
        limit: int = 10,
        kind: str | None = None,
        since: str | None = None,
        until: str | None = None,
        past: bool = False,
        searched: bool = True,
        read_days: bool = False,
        explain: bool = False,
    ) -> Recall:
        """What is known about `query`: of a project and the profile, or of all projects for None.

        limit         at most so many items; 0 gives none
        kind          only memories of this kind
        since, until  stamps, both included
        past          superseded memories too; so does a question about the past
        searched      False for a prompt that the user typed to an assistant: "continue" then searches for nothing
        read_days     a day that the query names ("yesterday") is taken out of it and bounds the search; `period` tells.
                      Where nothing of then is found, everything is searched: better an answer than none of that day
        explain       each item tells the numbers that ranked it (FACTORS)

        Any text is a safe query. Raises DataDamaged if the index cannot be read and there is nobody to mend it.
        """
        reads_days = read_days and not (since or until)
        how = {
            "project": project, "limit": limit, "kind": kind, "since": since, "until": until, "past": past,
            "searched": searched,
        }  # fmt: skip
        words, period, hits = self._ask(lambda: self._found(query, reads_days, how)) or (query, None, [])
        language = language_of(self._settings.language)
        found = Recall(mode=self._mode(hits), items=[_item(hit, why(hit, words, language)) for hit in hits])
        if explain:
            for item, hit in zip(found["items"], hits, strict=True):
                item["explain"] = {name: round(float(hit.get(name, 0)), 3) for name in FACTORS}
        return {**found, "period": period} if period else found

    def _found(self, query: str, reads_days: bool, how: Mapping[str, Any]) -> tuple[str, Period | None, list[Record]]:
        """The words that were searched for, the day that was read in the query, and what was found; `how` is recall's."""
        if not reads_days:
            return query, None, self._by_turn(query, **how)
        period, hits = self._of_its_day(query, how)
        words = period_in(query, self._clock())[0]
        if not hits:
            past = how["past"] or (period is not None and is_told_as_past(query))
            hits = self._by_turn(words, **{**how, "past": past})
            if period and hits:
                period = {**period, "missed": True}
        return words, period, hits

    def _of_its_day(self, query: str, how: Mapping[str, Any]) -> tuple[Period | None, list[Record]]:
        """The day that a query names, and what is found of it: all that was said then if it asks for nothing else."""
        now = self._clock()
        bare = bare_period(query, now, searched=how["searched"])
        if bare is not None:
            homes = (None,) if how["project"] is None else (how["project"], layout.PROFILE)
            kinds = (how["kind"],) if how["kind"] else ()
            hits = said_then(self._reader, bounds_of(bare), homes=homes, kinds=kinds, limit=how["limit"])
            if hits:
                return bare, hits
        words, period = period_in(query, now)
        if period is None:
            return bare, []
        then = {"since": period["since"], "until": period["until"], "past": how["past"] or is_told_as_past(query)}
        return period, self._by_turn(words, **{**how, **then})

    def _by_turn(self, query: str, *, limit: int, **how: Any) -> list[Record]:
        """The first `limit` results, of each turn one: the beginning of what any larger limit gives."""
        asked = self._asked(query, **how)
        ranked, titles = self._ranked(asked), self._titled(asked)
        most = limit if self._talks is None else limit * _OF_ONE_TURN
        while True:
            # Copies: folding notes in a hit what was folded into it.
            said = fold(map(dict, ranked), most)
            hits = with_titles(said, titles)
            found = hits[:limit] if self._talks is None else self._talks.by_turn(hits, limit)
            if len(found) == limit or len(said) < most:
                return found
            most *= _OF_ONE_TURN

    def hits(self, query: str, *, limit: int, **how: Any) -> list[Record]:
        """The same as records of the index with what ranking has added, each passage by itself; `how` is recall's."""
        asked = self._asked(query, **how)
        return fold(self._ask(lambda: self._ranked(asked)) or [], limit)

    def _asked(
        self,
        query: str,
        *,
        project: str | None,
        kind: str | None = None,
        since: str | None = None,
        until: str | None = None,
        past: bool = False,
        searched: bool = False,
    ) -> _Asked:
        read = typed(query) if searched else Typed(query, (), ())
        scope = Scope(
            types=("memory",) if kind else TYPES,
            projects=None if project is None else (project, layout.PROFILE),
            kinds=(kind,) if kind else (),
            since=milliseconds(since),
            until=milliseconds(until),
            past=past or is_about_the_past(query),
        )
        weighing = self._weighing(self._settings.semantic_match_threshold, searched)
        return _Asked(read, Query(read.words), scope, weighing)

    def _ranked(self, asked: _Asked) -> list[Record]:
        """All that is relevant enough, best first."""
        hits = ranked_by_both(self._reader, self._meaning, asked.query, asked.scope, asked.weighing)
        return asked.read.sift(hits)

    def _titled(self, asked: _Asked) -> list[Record]:
        if asked.scope.kinds or not asked.weighing.searched:
            return []
        return asked.read.sift(titled(self._reader, asked.query, asked.scope, asked.weighing))

    def _mode(self, hits: list[Record]) -> str:
        told = any("alike" in hit for hit in hits) if hits else self._meaning.is_ready()
        return "hybrid" if told else "keyword"


def _item(hit: Record, why: str) -> Item:
    item = Item(
        type=hit["type"],
        id=hit["id"],
        text=hit["text"],
        kind=hit["kind"],
        scope=hit["scope"],
        project=hit["project"],
        score=hit["score"],
        why=why,
        session=hit["session"],
        message_id=hit["message_id"],
        at=hit["at"],
    )
    return {**item, "turn": hit["turn"]} if "turn" in hit else item
