"""catmem: texts come in as messages of a history, are kept word for word, and are found by `mem recall`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_PROJECT = "comparison"


def load() -> None:
    import catmem.recall.recall
    import catmem.wiring  # noqa: F401


def open(task: dict[str, Any]) -> Peer:
    return Peer(task)


class Peer:
    def __init__(self, task: dict[str, Any]) -> None:
        from catmem.settings.config import set_setting
        from catmem.wiring import Catmem

        self._folder = Path(task["folder"])
        root = self._folder / "data"
        self._catmem = Catmem(root)
        set_setting(self._catmem.paths, "embedder", task["setting"])
        self._ids: list[str] = []

    def add(self, texts: list[dict[str, Any]]) -> None:
        from catmem.capture.importing import Importer

        file = self._folder / "texts.jsonl"
        rows = [
            {"session": "texts", "role": "user", "content": text["text"], "timestamp": text["time"]} for text in texts
        ]
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        Importer(self._catmem.history, project_of=lambda cwd: _PROJECT, project=_PROJECT).run([file], "messages")
        self._catmem.store.catch_up()
        self._catmem.index.catch_up(self._catmem.store, self._catmem.history)
        if self._catmem.embedder is not None:
            self._catmem.vectors.build(self._catmem.embedder)
        self._ids = [text["id"] for text in texts]

    def search(self, question: str, k: int) -> list[str]:
        found = self._catmem.recaller.recall(question, project=None, limit=k)
        return [self._ids[item["message_id"] - 1] for item in found["items"]]
