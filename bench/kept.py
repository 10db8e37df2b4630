"""Vectors that were made once for the public sets: all of them together take more than an hour of a core, asking minutes.

They lie in .cache/retrieval/vectors.db, by model, purpose and text, so that what changes the ranking is measured again at
once. To make them anew, delete the file.
"""

from __future__ import annotations

import array
import hashlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from bench import retriever
from catmem.llm.port import Embedder, Purpose

FILE = Path(".cache/retrieval/vectors.db")
# Two sets may be measured side by side.
_PATIENCE = 60.0


def hybrid() -> retriever.Retriever:
    """As `bench.retriever.hybrid`, which see."""
    return retriever.Retriever(KeptEmbedder(retriever.embedder(), FILE))


class KeptEmbedder:
    """Gives what another embedder gave before, and asks it for the rest."""

    def __init__(self, embedder: Embedder, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        self._embedder = embedder
        self._kept = sqlite3.connect(file, timeout=_PATIENCE)
        self._kept.execute("create table if not exists vectors (key blob primary key, vector blob) without rowid")

    @property
    def model(self) -> str:
        return self._embedder.model

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        keys = [self._key(text, purpose) for text in texts]
        found = {key: vector for key in keys if (vector := self._find(key)) is not None}
        lacking = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if lacking:
            made = dict(zip(lacking, self._embedder.embed(list(lacking.values()), purpose), strict=True))
            with self._kept:
                rows = ((key, array.array("f", vector).tobytes()) for key, vector in made.items())
                self._kept.executemany("insert or ignore into vectors values (?, ?)", rows)
            found |= made
        return [found[key] for key in keys]

    def _key(self, text: str, purpose: Purpose) -> bytes:
        told = "\0".join((self.model, purpose, text)).encode("utf-8", "surrogatepass")
        return hashlib.sha256(told).digest()

    def _find(self, key: bytes) -> list[float] | None:
        row = self._kept.execute("select vector from vectors where key = ?", (key,)).fetchone()
        return None if row is None else array.array("f", row[0]).tolist()
