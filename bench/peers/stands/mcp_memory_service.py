"""mcp-memory-service: its sqlite-vec storage, which asks an endpoint of OpenAI's kind for vectors."""

from __future__ import annotations

import asyncio
import os
from typing import Any


def load() -> None:
    os.environ["MCP_MEMORY_STORAGE_BACKEND"] = "sqlite_vec"
    import mcp_memory_service.storage.sqlite_vec  # noqa: F401


def open(task: dict[str, Any]) -> Peer:
    return Peer(task)


class Peer:
    def __init__(self, task: dict[str, Any]) -> None:
        os.environ["MCP_EXTERNAL_EMBEDDING_URL"] = f"{task['embedder']}/embeddings"
        os.environ["MCP_EXTERNAL_EMBEDDING_MODEL"] = "e5-query"
        from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage

        self._loop = asyncio.new_event_loop()
        self._storage = SqliteVecMemoryStorage(f"{task['folder']}/memory.db")
        self._loop.run_until_complete(self._storage.initialize())

    def add(self, texts: list[dict[str, Any]]) -> None:
        from mcp_memory_service.models.memory import Memory
        from mcp_memory_service.utils.hashing import generate_content_hash

        # Told not to drop what is alike: by the vectors of this model all texts of a language are.
        for text in texts:
            memory = Memory(
                content=text["text"],
                content_hash=generate_content_hash(text["text"]),
                tags=[],
                metadata={"place": text["id"]},
            )
            kept, why = self._loop.run_until_complete(self._storage.store(memory, skip_semantic_dedup=True))
            if not kept and "uplicate" not in why:
                raise RuntimeError(why)

    def search(self, question: str, k: int) -> list[str]:
        found = self._loop.run_until_complete(self._storage.retrieve(question, n_results=k))
        return [hit.memory.metadata["place"] for hit in found]
