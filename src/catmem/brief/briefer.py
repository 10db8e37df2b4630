"""Briefs from a data directory with its settings: for who has them as objects (the command line, the chat)."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict

from catmem.brief.brief import Brief, project_brief, prompt_brief
from catmem.domain.clock import Clock, system_clock
from catmem.index.mending import ask_mending
from catmem.index.reader import SearchReader
from catmem.settings.language import language_of
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings


class Briefer:
    """Makes briefs from the index, which must have caught up before.

    `mend` makes the index anew; it is called when the index proves to be damaged.
    """

    def __init__(
        self,
        paths: Paths,
        settings: Settings,
        clock: Clock = system_clock,
        mend: Callable[[], object] | None = None,
    ) -> None:
        self._reader = SearchReader(str(paths.search))
        self._values = asdict(settings)
        self._language = language_of(settings.language)
        self._clock = clock
        self._mend = mend

    def brief(self, project: str, prompt: str | None = None) -> Brief:
        """What a session in `project` is told that begins with `prompt`."""
        return ask_mending(
            self._reader,
            lambda: project_brief(
                self._reader, project, self._values, language=self._language, now=self._now(), prompt=prompt or ""
            ),
            self._mend,
        )

    def for_prompt(self, prompt: str, project: str, *, session: str = "", shown: Collection[str] = ()) -> Brief:
        """What the session of that key, which was told `shown`, is told beside a message."""
        return ask_mending(
            self._reader,
            lambda: prompt_brief(
                self._reader,
                prompt,
                project,
                self._values,
                language=self._language,
                now=self._now(),
                session=session,
                shown=shown,
            ),
            self._mend,
        )

    def _now(self) -> int:
        return round(self._clock() * 1000)
