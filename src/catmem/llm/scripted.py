"""A model that answers from a script, for tests of whatever asks a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from catmem.llm.port import Failure, Turn

Line = str | Failure
"""A piece of an answer, or the failure that ends it."""


class ScriptedModel:
    """Gives its answers one after the other, each a list of lines, and keeps what it was asked in `asked`."""

    def __init__(self, answers: Sequence[Sequence[Line]]) -> None:
        self._answers = list(answers)
        self.asked: list[tuple[tuple[str, ...], tuple[Turn, ...]]] = []

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        self.asked.append((tuple(system), tuple(turns)))
        if not self._answers:
            raise Failure("the script has ended", "脚本已用完", remedy="another")
        for line in self._answers.pop(0):
            if isinstance(line, Failure):
                raise line
            yield line
