"""What recall and search have in common: the index of a data directory, asked as its settings say."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from catmem.domain.clock import Clock, seconds_of, system_clock
from catmem.domain.errors import NotFound
from catmem.index.mending import ask_mending
from catmem.index.reader import SearchReader
from catmem.recall.period import period_in
from catmem.recall.rank import Weighing
from catmem.recall.turns import Talks
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings

if TYPE_CHECKING:
    from catmem.recall.period import Period

_Answer = TypeVar("_Answer")


class Asking:
    """The index must have caught up before.

    `mend` makes it anew; that is called when the index proves to be damaged, and the question asked again. `talks` tell
    which hits are of one turn.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        clock: Clock = system_clock,
        mend: Callable[[], object] | None = None,
        talks: Talks | None = None,
    ) -> None:
        self._reader = SearchReader(str(paths.search))
        self._settings = settings
        self._clock = clock
        self._mend = mend
        self._talks = talks

    def _ask(self, question: Callable[[], _Answer]) -> _Answer | None:
        """The answer to a question to the reader, None if nothing was ever indexed.

        Whether the index is as it was is looked at for each; so all that one answer needs is one question. Raises
        DataDamaged if the index is damaged and nobody mends it.
        """
        try:
            return ask_mending(self._reader, question, self._mend)
        except NotFound:
            return None

    def _weighing(self, threshold: float, searched: bool) -> Weighing:
        return Weighing(round(self._clock() * 1000), self._settings.recency_half_life_days, threshold, searched)

    def _days_of(
        self, words: str, since: str | None, until: str | None
    ) -> tuple[str, Period | None, str | None, str | None]:
        """The words without the day that they name, that day, and its bounds; bounds that were given hold instead."""
        rest, period = (words, None) if since or until else period_in(words, self._clock())
        return (rest, period, period["since"], period["until"]) if period else (words, None, since, until)


def milliseconds(stamp: str | None) -> int | None:
    """A stamp as the index counts time; None stays open."""
    return None if stamp is None else round(seconds_of(stamp) * 1000)
