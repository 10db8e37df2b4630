"""basic-memory: a note for each text, through the tools that it gives to assistants, in its default search."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

# Vectors are made in the background; what is not there after so long does not come any more.
_PATIENCE = 120.0


def load() -> None:
    import pysqlite3

    # Many Pythons cannot load extensions of SQLite, and without one basic-memory has no vectors.
    sys.modules["sqlite3"] = pysqlite3
    import basic_memory.mcp.tools  # noqa: F401


def open(task: dict[str, Any]) -> Peer:
    return Peer(task)


class Peer:
    def __init__(self, task: dict[str, Any]) -> None:
        settings = {
            "HOME": task["folder"],
            "LOG_LEVEL": "ERROR",
            "SEMANTIC_EMBEDDING_PROVIDER": "openai",
            "SEMANTIC_EMBEDDING_MODEL": "e5-query",
            "SEMANTIC_EMBEDDING_API_BASE": task["embedder"],
            "SEMANTIC_EMBEDDING_API_KEY": "none",
            "SEMANTIC_EMBEDDING_DIMENSIONS": "384",
        }
        os.environ.update({f"BASIC_MEMORY_{name}": value for name, value in settings.items()})
        self._loop = asyncio.new_event_loop()
        self._database = Path.home() / ".basic-memory" / "memory.db"

    def add(self, texts: list[dict[str, Any]]) -> None:
        """Returns when each text has its vectors."""
        from basic_memory.mcp.tools import write_note

        async def write() -> None:
            for text in texts:
                await write_note(title=text["id"], content=text["text"], directory="notes", project="main")
            last, news = -1, time.monotonic()
            while (embedded := self._embedded()) < len(texts) and time.monotonic() < news + _PATIENCE:
                last, news = embedded, time.monotonic() if embedded > last else news
                await asyncio.sleep(0.05)

        self._loop.run_until_complete(write())

    def _embedded(self) -> int:
        import pysqlite3

        with closing(pysqlite3.connect(self._database)) as database:
            (count,) = database.execute("select count(distinct entity_id) from search_vector_chunks").fetchone()
        return int(count)

    def search(self, question: str, k: int) -> list[str]:
        from basic_memory.mcp.tools import search_notes

        found = self._loop.run_until_complete(
            search_notes(query=question, project="main", page_size=k, output_format="json")
        )
        return [hit["title"] for hit in found["results"]]
