"""An embedder without a model, for tests of whatever embeds: texts are near each other as far as they share telling words."""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Iterable, Sequence

from catmem.llm.port import Failure, Purpose
from catmem.text.tokens import content_tokens


class HashedEmbedder:
    """Each token has a direction of its own, made of its hash; a text points where its tokens do.

    alike   groups of words that have one direction, as a model would know: ("car", "汽车")
    failure is raised in place of an answer; may be set and taken back at any time
    asked   keeps the texts that it was asked for, with their purpose
    """

    def __init__(self, model: str = "hashed", dimension: int = 64, alike: Iterable[Sequence[str]] = ()) -> None:
        self.model = model
        self.failure: Failure | None = None
        self.asked: list[tuple[Purpose, str]] = []
        self._dimension = dimension
        self._same = {token: group[0] for group in alike for word in group for token in content_tokens(word)}

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[list[float]]:
        if self.failure is not None:
            raise self.failure
        self.asked += [(purpose, text) for text in texts]
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        # The first direction is common to all texts, as it is with real models: no two are opposites.
        summed = [1.0] + [0.0] * (self._dimension - 1)
        for token in content_tokens(text):
            for place, number in enumerate(_direction(self._same.get(token, token), self._dimension)):
                summed[place] += number
        length = math.hypot(*summed)
        return [number / length for number in summed]


def _direction(token: str, dimension: int) -> list[float]:
    drawn = hashlib.shake_128(token.encode("utf-8", "replace")).digest(dimension * 2)
    numbers = [number / 32768 for number in struct.unpack(f"<{dimension}h", drawn)]
    length = math.hypot(*numbers) or 1.0
    return [number / length for number in numbers]
