"""A model that answers from a script or by a function, for tests of whatever asks a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from catmem.llm.port import MOST_TOKENS, Completion, Failure, Schema, Turn

Line = str | Failure
"""A piece of an answer, or the failure that ends it."""

Answer = Sequence[Line] | Completion | Failure
"""Pieces (a text is one), a completion as it stands, or a failure."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model is asked; `schema` is None where words are streamed."""

    system: tuple[str, ...]
    turns: tuple[Turn, ...]
    schema: Schema | None = None
    max_tokens: int = MOST_TOKENS


Answerer = Callable[[Asked], Answer]


class ScriptedModel:
    """Gives its answers one after the other, or those of a function; keeps what it was asked in `asked`."""

    def __init__(self, answers: Sequence[Answer] | Answerer) -> None:
        self._answerer = answers if callable(answers) else _one_by_one(answers)
        self.asked: list[Asked] = []

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        answer = self._answer(Asked(tuple(system), tuple(turns)))
        yield from _pieces([answer.text] if isinstance(answer, Completion) else answer)

    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Schema, *, max_tokens: int = MOST_TOKENS
    ) -> Completion:
        answer = self._answer(Asked(tuple(system), tuple(turns), schema, max_tokens))
        return answer if isinstance(answer, Completion) else Completion("".join(_pieces(answer)))

    def _answer(self, asked: Asked) -> Sequence[Line] | Completion:
        self.asked.append(asked)
        answer = self._answerer(asked)
        if isinstance(answer, Failure):
            raise answer
        return answer


def _one_by_one(answers: Sequence[Answer]) -> Answerer:
    left = list(answers)

    def answer(asked: Asked) -> Answer:
        return left.pop(0) if left else Failure("the script has ended", "脚本已用完", remedy="another")

    return answer


def _pieces(lines: Sequence[Line]) -> Iterator[str]:
    for line in lines:
        if isinstance(line, Failure):
            raise line
        yield line
