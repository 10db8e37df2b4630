"""Who answers in `mem start`: the memory alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from catmem.brief.brief import Brief
from catmem.domain.clock import local_day
from catmem.wiring import Catmem

# Shown as an answer; more is a search, which `mem recall` does better.
MOST_ITEMS = 5


class Answerer(Protocol):
    """Gives the answer to a message piece by piece. `about_en` and `about_zh` tell the user who it is."""

    brief: Brief
    about_en: str
    about_zh: str

    def answer(self, text: str) -> Iterator[str]: ...


class MemoryAnswerer:
    """Answers with what memory holds, word for word, and says so where it holds nothing."""

    about_en = (
        "No model is configured, so I answer from memory alone; everything you say is kept and distilled. "
        "`mem config set models …` adds a model."
    )
    about_zh = "没有配置模型，我只凭记忆回答；你说的话都会保存并提炼。用 `mem config set models …` 可添加模型。"

    def __init__(self, catmem: Catmem, project: str) -> None:
        self._catmem = catmem
        self._project = project
        self.brief = catmem.briefer.brief(project)

    def answer(self, text: str) -> Iterator[str]:
        chinese = self._catmem.language == "zh"
        items = self._catmem.recaller.recall(text, project=self._project, limit=MOST_ITEMS)["items"]
        if not items:
            yield "记忆中还没有与此有关的内容。" if chinese else "Nothing in memory about that yet."
            return
        yield "记忆中有：" if chinese else "From memory:"
        for item in items:
            day = local_day(item["at"])
            yield f"\n- {item['text']}（{day}）" if chinese else f"\n- {item['text']} ({day})"


def answerer_of(catmem: Catmem, project: str) -> Answerer:
    catmem.index.catch_up(catmem.store, catmem.history)
    return MemoryAnswerer(catmem, project)
