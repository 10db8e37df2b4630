"""Models of tests: each gives its answers in turn, and counts how often it was asked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catmem.llm.port import Turn

NOTHING: Mapping[str, Any] = {"merge": [], "replace": [], "retire": [], "promote": []}


@dataclass(frozen=True, slots=True)
class Said:
    text: str
    finish: str = "stop"


class TestModel:
    """`answers` are objects, texts, Said or exceptions; the last one stands for all that follow."""

    __test__ = False

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers) or [NOTHING]
        self.asked: list[str] = []

    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Mapping[str, Any], *, max_tokens: int
    ) -> Said:
        self.asked.append(turns[-1].text)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if callable(answer):
            answer = answer(turns[0].text)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Said) else Said(answer if isinstance(answer, str) else json.dumps(answer))
