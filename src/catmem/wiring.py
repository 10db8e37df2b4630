"""The one module that knows every adapter: it builds the objects of a data directory from its settings, when asked."""

from __future__ import annotations

import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from catmem.domain.clock import Clock, system_clock
from catmem.settings.language import language_of
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catmem.brief.briefer import Briefer
    from catmem.clients.installing import FileInstaller, Program
    from catmem.distil.worker import DistilWorker
    from catmem.domain.memory import Kind, Scope
    from catmem.dream.compact import AutoCompact
    from catmem.dream.model.dreamer import Dreamer
    from catmem.dream.pages.pages import Pages
    from catmem.index.vectors.builder import VectorIndex
    from catmem.index.writer import SearchIndex
    from catmem.ledger.ledger import Ledger
    from catmem.llm.budget import Spending
    from catmem.llm.fallback import Tell
    from catmem.llm.port import Embedder, Model
    from catmem.llm.resting import Rests
    from catmem.proxy.reading import Manner
    from catmem.proxy.recorder import Recorder
    from catmem.proxy.server import Proxy
    from catmem.recall.recall import Recaller
    from catmem.recall.search import Searcher
    from catmem.recall.turns import Talks
    from catmem.sessions.history import History
    from catmem.settings.workspace import Project
    from catmem.store.jobs import JobQueue
    from catmem.store.memories import MemoryStore
    from catmem.store.projects import Projects


class Catmem:
    """A data directory with everything that works on it; each part is made on first use."""

    def __init__(self, root: Path, clock: Clock = system_clock) -> None:
        self.paths = Paths(root)
        self.clock = clock

    @cached_property
    def settings(self) -> Settings:
        from catmem.settings.config import load_settings

        return load_settings(self.paths)

    @cached_property
    def language(self) -> str:
        return language_of(self.settings.language)

    @cached_property
    def history(self) -> History:
        return self._another_history()

    @cached_property
    def _key(self) -> bytes:
        from catmem.settings.secret_key import load_key

        return load_key(self.paths)

    def redact(self, text: str, source: str) -> str:
        """The door that every written text passes; `source` is "said" or "tool"."""
        from catmem.text.secrets.redact import redact

        if not self.settings.redact_secrets:
            return text
        return redact(text, self._key, source="said" if source == "said" else "tool")

    @cached_property
    def ledger(self) -> Ledger:
        from catmem.ledger.ledger import Ledger

        return Ledger(self.paths, self.clock)

    @cached_property
    def store(self) -> MemoryStore:
        from catmem.store.memories import MemoryStore

        return MemoryStore(self.paths, self.ledger, self.clock)

    @cached_property
    def projects(self) -> Projects:
        from catmem.store.projects import Projects

        return Projects(self.paths, self.store)

    @cached_property
    def queue(self) -> JobQueue:
        from catmem.store.jobs import JobQueue

        return JobQueue(self.paths, self.store)

    @cached_property
    def distiller(self) -> DistilWorker:
        from catmem.distil.model.selector import selector_of
        from catmem.distil.worker import DistilWorker

        selector = selector_of(self.paths, lambda: self.working_model, self._key, self.clock)
        idle = self.settings.working_memory_max_age
        return DistilWorker(
            self.history, self.store, self.queue, idle_minutes=idle, clock=self.clock, selector=selector
        )

    @cached_property
    def compactor(self) -> AutoCompact:
        from catmem.distil.summary import summary_of
        from catmem.dream.compact import AutoCompact

        summarise = None
        if self.helping_model is not None:
            from catmem.dream.model.summarising import ModelSummariser

            summarise = ModelSummariser(self.helping_model, self.redact)
        return AutoCompact(
            self.history, self.paths, self.settings, digest=summary_of, summarise=summarise, clock=self.clock
        )  # fmt: skip

    @cached_property
    def dreamer(self) -> Dreamer | None:
        """None if no model is configured: then the rules alone promote and expire."""
        if self.helping_model is None:
            return None
        from catmem.dream.model.dreamer import Dreamer

        return Dreamer(
            self.store,
            self.paths,
            self.helping_model,
            self.settings.dream,
            threshold=self.settings.preference_confirm_threshold,
            clock=self.clock,
        )

    @cached_property
    def pages(self) -> Pages:
        from catmem.dream.pages.pages import Pages

        return Pages(
            self.paths,
            self.store,
            remember=self._remember_from_page,
            forget=self._forget_from_page,
            redact=self.redact,
            folder_of=self._folder_of_page,
            language=self.language,
            clock=self.clock,
        )

    def _remember_from_page(self, text: str, scope: Scope, kind: Kind, project: str) -> str:
        from catmem.capture.remember import remember
        from catmem.dream.pages.pages import SESSION

        return remember(
            self.store, text, project=project, scope=scope, kind=kind, session=SESSION, redact=self.redact,
            clock=self.clock,
        )  # fmt: skip

    def _forget_from_page(self, ids: Sequence[str]) -> None:
        from catmem.inject.forget import forget

        forget(self, [self.store.require(id) for id in ids], why="deleted from MEMORY.md", rewrite_pages=False)

    def _folder_of_page(self, project: str) -> Path:
        """The project's own folder where the user wants that and it is there, else its place in the data directory."""
        from catmem.sessions.names import file_name

        if self.settings.project_memory_file == "workspace":
            _, folders = self.projects.registry().seen.get(project, ("", ()))
            for folder in map(Path, folders):
                if folder.is_dir():
                    return folder
        return self.paths.projects / file_name(project)

    @cached_property
    def index(self) -> SearchIndex:
        from catmem.index.writer import SearchIndex

        return SearchIndex(self.paths)

    @cached_property
    def vectors(self) -> VectorIndex:
        from catmem.index.vectors.builder import VectorIndex

        return VectorIndex(self.paths)

    @cached_property
    def recaller(self) -> Recaller:
        from catmem.recall.recall import Recaller

        return Recaller(
            self.paths,
            self.settings,
            self.clock,
            mend=lambda: self.index.rebuild(self.store, self.history),
            talks=self.talks,
            embedder=self.embedder,
        )

    @cached_property
    def searcher(self) -> Searcher:
        from catmem.recall.search import Searcher

        return Searcher(
            self.paths,
            self.settings,
            self.clock,
            mend=lambda: self.index.rebuild(self.store, self.history),
            talks=self.talks,
        )

    @cached_property
    def talks(self) -> Talks:
        from catmem.index.watermark import forgotten_hashes
        from catmem.recall.turns import Talks

        return Talks(self.history.talk, lambda: forgotten_hashes(self.store), self.history.state)

    @cached_property
    def briefer(self) -> Briefer:
        from catmem.brief.briefer import Briefer

        return Briefer(self.paths, self.settings, self.clock, mend=lambda: self.index.rebuild(self.store, self.history))

    @cached_property
    def embedder(self) -> Embedder | None:
        """What turns texts into vectors; None where recall goes by words alone."""
        from catmem.llm.embedders import embedder_of

        return embedder_of(self.settings.embedder, self.paths.embedder)

    def model(self, tell: Tell) -> Model | None:
        """The configured models as one, or None; `tell` hears when one is left. Raises ModelFailed if none can work."""
        from catmem.llm.providers import models_of

        return models_of(self.settings.models, tell) if self.settings.models else None

    @cached_property
    def rests(self) -> Rests:
        """Which models are left alone for a while, as every worker of this data directory knows it."""
        from catmem.llm.resting import Rests

        return Rests(self.paths.models, self.clock)

    @cached_property
    def spending(self) -> Spending:
        from catmem.llm.budget import Spending

        return Spending(self.paths.spending, self.settings.daily_token_budget, self.clock)

    @cached_property
    def working_model(self) -> Model | None:
        """The same for background work: within the budget, and without those that failed a short while ago."""
        from catmem.llm.providers import working_models_of

        if not self.settings.models or not self.settings.daily_token_budget:
            return None
        return working_models_of(self.settings.models, self.rests, self.spending)

    @cached_property
    def helping_model(self) -> Model | None:
        """The same, and None also where it cannot be made: work goes on by the rules, and `mem doctor` says why."""
        from catmem.domain.errors import ModelFailed

        try:
            return self.working_model
        except ModelFailed:
            return None

    def installer(self, client: str, folder: Path | None = None, *, plugin: bool = False) -> FileInstaller:
        """What connects an assistant: it will call this very installation, on this data directory.

        `folder` is its configuration, or a plugin's. Raises BadInput if the assistant takes no plugin folder.
        """
        from catmem.clients.hosts import installer

        return installer(client, self.paths, self._program(), folder, plugin=plugin)

    def _program(self) -> Program:
        from catmem.clients.installing import Program

        beside = Path(sys.executable).with_name("mem")
        start = (str(beside),) if beside.exists() else (sys.executable, "-P", "-m", "catmem")
        # Named outright unless it is the usual place: an assistant started elsewhere has no CATMEM_DIR.
        usual = self.paths.root == Path.home() / ".catmem"
        options = () if usual else ("--dir", str(self.paths.root.absolute()))
        return Program(start, options)

    def project_of(self, cwd: str) -> Project:
        """The project that `cwd` belongs to, whatever it was merged into or moved from."""
        from catmem.settings.workspace import project_of

        return self.projects.home_of(project_of(cwd, self.settings.project_roots))

    def proxy(
        self,
        upstreams: Mapping[str, str],
        manner: Manner,
        *,
        environment: Mapping[str, str],
        pure: bool = False,
        token: str = "",
    ) -> tuple[Proxy, Recorder]:
        """The proxy and the thread that records what passes it. Each of its threads has a history of its own."""
        from catmem.proxy.assembly import assemble

        return assemble(
            self.paths,
            self.settings,
            self._another_history,
            self.redact,
            upstreams,
            manner,
            environment=environment,
            pure=pure,
            token=token,
        )

    def _another_history(self) -> History:
        from catmem.sessions.merged import MergedHistory

        return MergedHistory(self.paths, durability=self.settings.durability, redact=self.redact, clock=self.clock)

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()
