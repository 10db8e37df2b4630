"""Recall: a query becomes ranked memories and passages, as design 11 prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from catmem.domain.clock import Clock, seconds_of, system_clock
from catmem.domain.errors import NotFound
from catmem.index import layout
from catmem.index.documents import Record
from catmem.index.mending import ask_mending
from catmem.index.reader import SearchReader
from catmem.recall.keyword import find
from catmem.recall.query import Query
from catmem.recall.why import why
from catmem.settings.language import language_of
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings


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


class Recall(TypedDict):
    """`mode` says by what means the items were found; `items` are best first."""

    mode: str
    items: list[Item]


class Recaller:
    """Recalls from the index of a data directory as its settings say. The index must have caught up before.

    `mend` makes the index anew; it is called when the index proves to be damaged, and the query asked again.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        clock: Clock = system_clock,
        mend: Callable[[], object] | None = None,
    ) -> None:
        self._mend = mend
        self._settings = settings
        self._clock = clock
        self._reader = SearchReader(str(paths.search))

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
    ) -> Recall:
        """What is known about `query`: of a project and the profile, or of all projects for None.

        limit         at most so many items; 0 gives none
        kind          only memories of this kind
        since, until  stamps, both included
        past          superseded memories too
        searched      False for a prompt that the user typed to an assistant: "continue" then searches for nothing

        Any text is a safe query. Raises DataDamaged if the index cannot be read and there is nobody to mend it.
        """
        hits = self.hits(
            query, project=project, limit=limit, kind=kind, since=since, until=until, past=past, searched=searched
        )
        language = language_of(self._settings.language)
        return {"mode": "keyword", "items": [_item(hit, why(hit, query, language)) for hit in hits]}

    def hits(
        self,
        query: str,
        *,
        project: str | None,
        limit: int,
        kind: str | None = None,
        since: str | None = None,
        until: str | None = None,
        past: bool = False,
        searched: bool = False,
    ) -> list[Record]:
        """The same as records of the index with what ranking has added."""

        asked = Query(query)

        def ask() -> list[Record]:
            return find(
                self._reader,
                asked,
                limit=limit,
                now=round(self._clock() * 1000),
                half_lives=self._settings.recency_half_life_days,
                threshold=self._settings.semantic_match_threshold,
                types=("memory",) if kind else ("memory", "passage"),
                projects=None if project is None else (project, layout.PROFILE),
                kinds=(kind,) if kind else (),
                since=_milliseconds(since),
                until=_milliseconds(until),
                past=past,
                searched=searched,
            )

        try:
            return ask_mending(self._reader, ask, self._mend)
        except NotFound:
            # Nothing was ever indexed, so there is nothing to find.
            return []


def _item(hit: Record, why: str) -> Item:
    return Item(
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


def _milliseconds(stamp: str | None) -> int | None:
    return None if stamp is None else round(seconds_of(stamp) * 1000)
