"""Answers for the tests, and what a model is shown of a small talk."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from catmem.distil.distiller import judged, read
from catmem.distil.model.windows import Window, windows_of
from catmem.llm.scripted import Asked
from tests.distil.talks import talk

LINES = (
    "U: the build is red again, can you look at it?",
    "A: The linter fails on two files. Shall I fix them?",
    "U: yes. we're on pnpm in this repository, npm install breaks the lock file",
    "A: Understood.",
    "U: thanks, and what does the flag --frozen do?",
    "A: It refuses to change the lock file.",
    "U: ok, run the tests once more",
    "A: All green.",
)
CHINESE = (
    "U: 构建又红了，帮我看看？",
    "A: 检查没通过。要我修吗？",
    "U: 好。另外我们提交信息一律写英文，带上工单号",
    "A: 好的。",
    "U: --frozen 是干什么用的？",
    "A: 不改锁文件。",
    "U: 行，再跑一遍测试",
    "A: 全过了。",
)


def window_of(*lines: str) -> Window:
    sentences = read(talk(*lines))
    return windows_of(sentences, judged(sentences), 1)[0]


def number_of(window: Window, words: str) -> int:
    return next(n for n, sentence in enumerate(window.sentences, 1) if words in sentence.text)


def form(*facts: Mapping[str, Any], decisions: Sequence[Any] = (), questions: Sequence[Any] = (), **digest: Any) -> str:
    """An answer of the right form; a fact is as given, with what it lacks."""
    rows = [{"kind": "convention", "scope": "project", "sure": True, "words": "", **fact} for fact in facts]
    return json.dumps(
        {
            "facts": rows,
            "decisions": list(decisions),
            "questions": list(questions),
            "digest": {"progress": "", "topics": [], **digest},
        },
        ensure_ascii=False,
    )


def selecting(*words: str) -> Any:
    """A model that selects the sentences with one of these words in them."""

    def answer(asked: Asked) -> str:
        shown = re.findall(r"^(\d+)\. (.*)$", asked.turns[0].text, re.MULTILINE)
        return form(*({"n": int(n)} for n, text in shown if any(word in text for word in words)))

    return answer
