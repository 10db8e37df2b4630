"""Several models as one: tried in order, one that failed is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from catmem.llm.budget import Spent
from catmem.llm.port import MOST_TOKENS, Completion, Failure, Model, Schema, Turn
from catmem.llm.resting import Rests

Tell = Callable[[str, str, Failure], None]
"""Called as tell(failed, next, why) when one model is left for the next."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A model and what the user calls it. `key` tells it from others where it rests; two of one name are still two."""

    name: str
    model: Model
    key: str = ""


class FallbackModel:
    """A model that asks others, in order. One that failed rests.

    An answer that broke off while somebody read it is not begun again by another model: what was said stands, and the
    failure is raised. If all rest, a person who waits is still given the one that has rested most; background work is
    told to come back.
    """

    def __init__(
        self,
        models: Sequence[Named],
        tell: Tell,
        clock: Callable[[], float] = time.time,
        rests: Rests | None = None,
    ) -> None:
        self._models = [(named, named.key or f"{place} {named.name}") for place, named in enumerate(models)]
        self._tell = tell
        self._rests = rests or Rests(clock=clock)

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        # Somebody always is asked: a person waits, and a server may be back sooner than thought.
        asked = self._awake() or [min(self._models, key=lambda model: self._rests.left(model[1]))]
        for place, (named, key) in enumerate(asked):
            begun = False
            try:
                for piece in named.model.stream(system, turns):
                    begun = True
                    yield piece
            except Failure as failure:
                self._failed(key, failure)
                if begun or failure.remedy == "give up" or place + 1 == len(asked):
                    raise
                self._tell(named.name, asked[place + 1][0].name, failure)
                continue
            self._rests.wake(key)
            return

    def complete(
        self, system: Sequence[str], turns: Sequence[Turn], schema: Schema, *, max_tokens: int = MOST_TOKENS
    ) -> Completion:
        asked = self._awake()
        for place, (named, key) in enumerate(asked):
            try:
                said = named.model.complete(system, turns, schema, max_tokens=max_tokens)
            except Spent:
                # What is spent is spent for all of them, and this one is well.
                raise
            except Failure as failure:
                self._failed(key, failure)
                if failure.remedy == "give up" or place + 1 == len(asked):
                    raise
                self._tell(named.name, asked[place + 1][0].name, failure)
                continue
            self._rests.wake(key)
            return replace(said, model=said.model or named.name)
        raise self._all_rest()

    def _awake(self) -> list[tuple[Named, str]]:
        return [(named, key) for named, key in self._models if not self._rests.left(key)]

    def _failed(self, key: str, failure: Failure) -> None:
        if failure.rest:
            self._rests.rest(key, failure.rest)

    def _all_rest(self) -> Failure:
        left = min((self._rests.left(key) for _, key in self._models), default=0.0)
        return Failure(
            f"every model failed a short while ago; the next try is in {left:.0f} s, `mem models check` tries them now",
            f"所有模型刚刚都失败过；{left:.0f} 秒后再试，也可用 `mem models check` 立即检查",
            remedy="later",
            rest=left,
            kind="unreachable",
        )
