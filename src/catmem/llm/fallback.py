"""Several models as one: tried in order, one that failed is left alone for a while."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from catmem.llm.port import Failure, Model, Turn

Tell = Callable[[str, str, Failure], None]
"""Called as tell(failed, next, why) when one model is left for the next."""


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A model and what the user calls it; two of one name are still two."""

    name: str
    model: Model


class FallbackModel:
    """A model that asks others, in order. Models that rest are asked only if all do, the one that has rested most first.

    An answer that broke off is not begun again by another model: what was said stands, and the failure is raised.
    """

    def __init__(self, models: Sequence[Named], tell: Tell, clock: Callable[[], float] = time.monotonic) -> None:
        self._models = list(models)
        self._tell = tell
        self._clock = clock
        self._rested: dict[Named, float] = {}

    def stream(self, system: Sequence[str], turns: Sequence[Turn]) -> Iterator[str]:
        asked = self._awake()
        for place, named in enumerate(asked):
            begun = False
            try:
                for piece in named.model.stream(system, turns):
                    begun = True
                    yield piece
            except Failure as failure:
                if failure.rest:
                    self._rested[named] = self._clock() + failure.rest
                if begun or failure.remedy == "give up" or place + 1 == len(asked):
                    raise
                self._tell(named.name, asked[place + 1].name, failure)
                continue
            self._rested.pop(named, None)
            return

    def _awake(self) -> list[Named]:
        """Who is to be asked. Somebody always is: a person waits, and a server may be back sooner than thought."""
        now = self._clock()
        awake = [named for named in self._models if self._rested.get(named, now) <= now]
        return awake or [min(self._models, key=lambda named: self._rested[named])]
