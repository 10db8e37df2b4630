"""Asking the index (hot path): opened in well under a millisecond, standard library and tantivy only.

A query is built from terms, never parsed from text, so that any text is a safe query. Terms are OR-ed and the best
are exact. Filters hold before ranking.
"""

from __future__ import annotations

import os

import tantivy

from catmem.index import layout
from catmem.index.failures import translate
from catmem.index.opened import Opened
from catmem.index.scope import Scope
from catmem.index.stored import unpack
from catmem.index.terms import alternatives, fields_of_token, holding
from catmem.settings import registry
from catmem.settings.places import Places, state_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from catmem.index.documents import Record

_PART_OF = {"memory": layout.MEMORIES, "passage": layout.PASSAGES, "output": layout.OUTPUTS}
EVERY_TYPE = tuple(_PART_OF)

# Of one memory; who reworded one more often than this has `mem log`.
_MOST_STATEMENTS = 20
# Instants beyond these are no times of ours; they bound an open end of a range.
_EARLIEST = -(2**62)
_LATEST = 2**62

# What weighs less decides nothing by standing in the middle of a word.
_TELLING = 0.5

_EVERYWHERE = Scope()


class SearchReader:
    """The index as it was when first asked; a process that lives long asks `refresh` for news, and `reload` where what is
    open proved to be damaged.

    Raises NotFound if there is no index yet and DataDamaged if it cannot be read: the writer makes it anew.
    """

    __slots__ = ("_opened", "_registry", "_search")

    def __init__(self, search: str) -> None:
        """`search` is the folder `search/` of the data directory."""
        self._search = search
        self._opened = Opened(search)
        self._registry: registry.Registry | None = None

    def refresh(self) -> None:
        self._opened.drop_changed()
        self._registry = None

    def reload(self) -> None:
        self._opened.drop()
        self._registry = None

    def search(
        self,
        terms: Sequence[tuple[str, float]],
        scope: Scope = _EVERYWHERE,
        *,
        every: bool = False,
        limit: int = 50,
    ) -> list[Record]:
        """The best `limit` documents of each type of the scope, best first; each is its record with `bm25` added.

        terms  tokens with their weights (1.0 is plain BM25)
        every  only documents that have every term
        """
        found: list[Record] = []
        for type in scope.types:
            schema, searcher = self._opened.part(_PART_OF[type])
            try:
                query = _query(schema, searcher, terms, scope.only(type), self.members(scope.projects), every)
                hits = searcher.search(query, limit, count=False).hits if query is not None else []
                for score, address in hits:
                    record = unpack(searcher.doc(address).get_first(layout.RECORD))
                    record["bm25"] = score
                    found.append(record)
            except BaseException as error:
                translate(error)
        return found

    def newest(
        self,
        *,
        project: str | None,
        kinds: Sequence[str],
        limit: int,
        standing: str = "live",
        within: tuple[int, int] | None = None,
    ) -> list[Record]:
        """The memories in force that were last said, newest first: of one home, "" being the profile, or of all.

        `standing` may be "pinned" for the pinned ones alone; of `within`, in milliseconds and both included, only what
        was said then.
        """
        schema, searcher = self._opened.part(layout.MEMORIES)
        query, must = tantivy.Query, tantivy.Occur.Must
        clauses = [(must, query.term_query(schema, layout.STANDING, standing, "basic"))]
        if standing != "live":
            clauses.append((must, query.term_query(schema, layout.STANDING, "live", "basic")))
        clauses += _filters(schema, self.members(None if project is None else (project,)), kinds)
        if within is not None:
            clauses.append((must, _within(schema, *within)))
        try:
            hits = searcher.search(query.boolean_query(clauses), limit, count=False, order_by_field=layout.NEWEST).hits
            return [unpack(searcher.doc(address).get_first(layout.RECORD)) for _, address in hits]
        except BaseException as error:
            translate(error)

    def memories(self, ids: Iterable[str]) -> list[Record]:
        """All statements of the memories with these ids, the present and the earlier ones."""
        schema, searcher = self._opened.part(layout.MEMORIES)
        query = tantivy.Query
        named = [(tantivy.Occur.Should, query.term_query(schema, layout.ID, id, "basic")) for id in ids]
        if not named:
            return []
        try:
            hits = searcher.search(query.boolean_query(named), _MOST_STATEMENTS * len(named), count=False).hits
            return [unpack(searcher.doc(address).get_first(layout.RECORD)) for _, address in hits]
        except BaseException as error:
            translate(error)

    def frequencies(self, type: str, tokens: Iterable[str]) -> dict[str, int]:
        """In how many documents of a type each token is."""
        part = _PART_OF[type]
        _, searcher = self._opened.part(part)
        try:
            return {
                token: sum(searcher.doc_freq(field, token) for field in fields_of_token(part, token))
                for token in tokens
            }
        except BaseException as error:
            translate(error)

    def count(self, type: str, session: str = "") -> int:
        """How many documents of a type there are; of one session, if its term is given."""
        schema, searcher = self._opened.part(_PART_OF[type])
        if not session:
            return int(searcher.num_docs)
        try:
            query = tantivy.Query.term_query(schema, layout.SESSION, session, "basic")
            return int(searcher.search(query, 1).count)
        except BaseException as error:
            translate(error)

    # -- documents by their keys: what vectors are kept under ---------------------------------------------------------

    def state(self, type: str) -> str:
        """What tells one state of the documents of a type from the next; "" without an index."""
        try:
            status = os.stat(os.path.join(layout.part_folder(self._search, _PART_OF[type]), "meta.json"))
        except OSError:
            return ""
        return " ".join(map(str, state_of(status)))

    def keys(self, type: str) -> set[int]:
        """The keys of all documents of a type."""
        return {key for key, _ in self._ordered(type, tantivy.Query.all_query(), layout.KEY, self.count(type))}

    def newest_keys(self, type: str, most: int) -> list[tuple[int, Any]]:
        """The keys of about the `most` documents that were last said, newest first, each with its address."""
        newest = self._ordered(type, tantivy.Query.all_query(), layout.NEWEST, min(most, self.count(type)))
        if not newest:
            return []
        schema, _ = self._opened.part(_PART_OF[type])
        since = tantivy.Query.range_query(schema, layout.NEWEST, tantivy.FieldType.Integer, newest[-1][0], _LATEST)
        keys = {_place(address): key for key, address in self._ordered(type, since, layout.KEY, self.count(type))}
        return [(keys[_place(address)], address) for _, address in newest]

    def records_at(self, type: str, addresses: Iterable[Any]) -> list[Record]:
        _, searcher = self._opened.part(_PART_OF[type])
        try:
            return [unpack(searcher.doc(address).get_first(layout.RECORD)) for address in addresses]
        except BaseException as error:
            translate(error)

    def living(self, type: str, keys: Iterable[int]) -> set[int]:
        """Those of the keys that are still a document's."""
        return {key for key, _ in self._holders(type, keys, [])}

    def within(self, keys: Iterable[int], scope: Scope) -> dict[int, Record]:
        """The documents of the keys that the scope, which is of one type, lets a search find."""
        (type,) = scope.types
        schema, _ = self._opened.part(_PART_OF[type])
        query, must = tantivy.Query, tantivy.Occur.Must
        clauses = _filters(schema, self.members(scope.projects), scope.kinds)
        if not scope.is_timeless:
            clauses.append((must, _within(schema, scope.since, scope.until)))
        if not scope.past:
            clauses.append((must, query.term_query(schema, layout.STANDING, "live", "basic")))
        found = self._holders(type, keys, clauses)
        return dict(zip((key for key, _ in found), self.records_at(type, (at for _, at in found)), strict=True))

    def _holders(self, type: str, keys: Iterable[int], clauses: list[tuple[Any, Any]]) -> list[tuple[int, Any]]:
        """The documents of the keys for which the clauses hold."""
        wanted = frozenset(keys)
        schema, _ = self._opened.part(_PART_OF[type])
        shelves = sorted(set(map(layout.shelf_of, wanted)))
        on_them = tantivy.Query.term_set_query(schema, layout.SHELF, shelves)
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, on_them), *clauses])
        found = self._ordered(type, query, layout.KEY, self.count(type))
        return [(key, address) for key, address in found if key in wanted]

    def _ordered(self, type: str, query: Any, field: str, most: int) -> list[tuple[int, Any]]:
        """The documents that a query meets with the values of a field, highest first."""
        _, searcher = self._opened.part(_PART_OF[type])
        if most == 0:
            return []
        try:
            hits: list[tuple[int, Any]] = searcher.search(query, most, count=False, order_by_field=field).hits
            return hits
        except BaseException as error:
            translate(error)

    def members(self, projects: Sequence[str] | None) -> Sequence[str] | None:
        """The homes of projects, with all that was merged into them; None for every one."""
        if projects is None:
            return None
        if self._registry is None:
            self._registry = registry.read(Places(os.path.dirname(self._search)))
        return [member for project in projects for member in (self._registry.members(project) if project else ("",))]


def _place(address: Any) -> tuple[int, int]:
    return address.segment_ord, address.doc


def _query(
    schema: Any,
    searcher: Any,
    terms: Sequence[tuple[str, float]],
    scope: Scope,
    homes: Sequence[str] | None,
    every: bool,
) -> Any:
    query, must = tantivy.Query, tantivy.Occur.Must
    (type,) = scope.types
    part, words = _PART_OF[type], []
    past = (layout.PAST,) if scope.past and type == "memory" else ()
    for token, weight in terms:
        # Alternatives of bare terms and nothing beside them: only of these tantivy skips whole blocks that cannot win.
        if every:
            ways = [holding(schema, searcher, part, token)]
        else:
            ways = alternatives(schema, searcher, part, token, in_pairs=weight >= _TELLING)
        ways += [query.term_query(schema, field, token, "freq") for field in past]
        words += [(must if every else tantivy.Occur.Should, query.boost_query(way, weight)) for way in ways]
    if not words:
        return None
    clauses = [(must, query.boolean_query(words)), *_filters(schema, homes, scope.kinds)]
    if not scope.is_timeless:
        clauses.append((must, query.const_score_query(_within(schema, scope.since, scope.until), 0.0)))
    return query.boolean_query(clauses) if len(clauses) > 1 else clauses[0][1]


def _filters(schema: Any, homes: Sequence[str] | None, kinds: Sequence[str]) -> list[tuple[Any, Any]]:
    """Clauses that hold or not and add nothing to the score."""
    query, clauses = tantivy.Query, []
    for field, values in ((layout.HOME, homes), (layout.KIND, kinds or None)):
        if values is not None:
            named = [(tantivy.Occur.Should, query.term_query(schema, field, value, "basic")) for value in values]
            clauses.append((tantivy.Occur.Must, query.const_score_query(query.boolean_query(named), 0.0)))
    return clauses


def _within(schema: Any, since: int | None, until: int | None) -> Any:
    return tantivy.Query.range_query(
        schema,
        layout.AT,
        tantivy.FieldType.Integer,
        _EARLIEST if since is None else since,
        _LATEST if until is None else until,
    )
