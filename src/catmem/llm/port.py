"""The seam to a language model, one method wide, and how a model may fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from catmem.domain.errors import ModelFailed


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said."""

    role: Literal["user", "assistant"]
    text: str


class Model(Protocol):
    """Answers a talk. It is given words only: no tools, no files."""

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        """The answer to the last turn, which is the user's, piece by piece; what came before a failure stays valid.

        `system` are the elements of the system prompt, in their order; an empty one is none. Raises Failure. Closing the iterator ends the request.
        """
        ...


Remedy = Literal["later", "another", "give up"]
"""What helps: the same model after a pause; another model now, since this one would fail again; nothing."""


class Failure(ModelFailed):
    """A ModelFailed that says what helps. `rest` is how many seconds this model had better be left alone."""

    def __init__(self, en: str, zh: str, *, remedy: Remedy, rest: float = 0.0) -> None:
        super().__init__(en, zh)
        self.remedy = remedy
        self.rest = rest
