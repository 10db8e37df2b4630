"""The seam to a language model: it answers a talk, or completes one to a form; and how a model may fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from catmem.domain.errors import ModelFailed

Row = Mapping[str, Any]
"""A model of the setting `models`: texts by name; `command` is a list of texts."""

Schema = Mapping[str, Any]
"""The form of an answer, as a JSON schema of an object."""

# Far more than a selection of sentences needs; it ends a model that repeats itself.
MOST_TOKENS = 4096


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said."""

    role: Literal["user", "assistant"]
    text: str


Finish = Literal["stop", "length", "refusal"]
"""Why an answer ended: it was complete; it came to the bound of its tokens; the model, or who serves it, would not."""


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole answer as it was given, which is for the asker to judge: it may be empty, or of another form than asked.

    The tokens are those that the server counted, 0 where it counts none. `model` is what the user calls who answered.
    """

    text: str
    finish: Finish = "stop"
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""


class Model(Protocol):
    """Answers a talk. It is given words only: no tools, no files."""

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        """The answer to the last turn, which is the user's, piece by piece; what came before a failure stays valid.

        `system` are the elements of the system prompt, in their order; an empty one is none. Raises Failure. Closing
        the iterator ends the request.
        """
        ...

    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Schema, *, max_tokens: int = MOST_TOKENS
    ) -> Completion:
        """The whole answer to the last turn, which ought to be one JSON object of `schema`. Raises Failure.

        The server is held to the form where it can be; where it cannot, the words of the form are added to the prompt.
        """
        ...


Purpose = Literal["query", "passage"]
"""What a text is embedded for. Models are trained on pairs of both, and many want to be told which one they read."""


class Embedder(Protocol):
    """Turns texts into vectors of one length; texts of like meaning into vectors that are near each other.

    Vectors of two models say nothing about each other, so whoever keeps vectors keeps `model` and their length beside.
    """

    @property
    def model(self) -> str:
        """Names what makes the vectors, with the version where it has one; the same name, the same vectors."""
        ...

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        """A vector for each text, in their order, all of the same length and finite. Any text is safe. Raises Failure."""
        ...


Remedy = Literal["later", "another", "give up"]
"""What helps: the same model after a pause; another model now, since this one would fail again; nothing."""

Kind = Literal[
    "400", "401", "404", "429", "500", "timeout", "hang", "stream-died", "unreachable", "unreadable", "empty", "command",
    "setup", "spent", "failed",
]  # fmt: skip
"""By what name a failure is counted. The numbers stand for the likes of that status; `timeout` for nothing heard at all,
`hang` for an answer that began and found no end; `command` for a program that failed; `setup` for what was not tried."""


class Failure(ModelFailed):
    """A ModelFailed that says what helps. `rest` is how many seconds this model had better be left alone."""

    def __init__(self, en: str, zh: str, *, remedy: Remedy, rest: float = 0.0, kind: Kind = "failed") -> None:
        super().__init__(en, zh)
        self.remedy = remedy
        self.rest = rest
        self.kind = kind
