"""Calls of tools: who calls, on what memory, with which arguments, and what comes of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from catmem.domain.clock import now
from catmem.domain.errors import CatmemError
from catmem.domain.helper import is_helper_environment
from catmem.mcp.caller import Caller, folder_of, session_of
from catmem.mcp.port import Asked, Memory, Offer
from catmem.mcp.server import Answer
from catmem.mcp.tools import TOOLS
from catmem.sessions.pure import is_pure, is_pure_environment
from catmem.settings.language import language_of

_TOOLS = {tool.name: tool for tool in TOOLS}
# Where the tools are done; loaded at the first call, since a client waits for the list of them only.
_DONE_BY = {
    "recall": ("catmem.mcp.recall", "recall"),
    "remember": ("catmem.mcp.remember", "remember"),
    "forget": ("catmem.mcp.forget", "forget"),
    "list_sessions": ("catmem.mcp.conversations", "list_sessions"),
    "read_session": ("catmem.mcp.conversations", "read_session"),
    "explain": ("catmem.mcp.explain", "explain"),
}


class Toolbox:
    """`open_memory` opens the data directory anew; `project` and `everywhere` are what the server was started with."""

    def __init__(
        self,
        open_memory: Callable[[], Memory],
        environment: Mapping[str, str],
        folder: str,
        name: str,
        *,
        project: str | None = None,
        everywhere: bool = False,
    ) -> None:
        self._open_memory = open_memory
        self._environment = environment
        self._folder = folder
        self._name = name
        self._since = now()
        self._project = project
        self._everywhere = everywhere
        self._offers: dict[str, Offer] = {}

    def call(self, name: str, arguments: Mapping[str, Any], meta: Mapping[str, Any]) -> Answer:
        """Does a call. Whatever goes wrong is an answer: a server that falls over takes its host's tools along."""
        language = language_of("auto")
        try:
            memory = self._open_memory()
            try:
                language = memory.language
                return self._answer(memory, name, arguments, meta)
            finally:
                memory.close()
        except CatmemError as error:
            return Answer(error.said(language), failed=True)
        except Exception as error:
            said = type(error).__name__
            if os.environ.get("CATMEM_DEBUG"):
                import traceback

                traceback.print_exc()  # On stderr, which clients keep in a log: it may hold what was said.
            zh = f"catmem 内部故障（{said}）；没有改动任何内容，`mem doctor` 可检查数据"
            en = f"a fault of catmem ({said}); nothing was half-done, and `mem doctor` checks the data"
            return Answer(zh if language == "zh" else en, failed=True)

    def _answer(self, memory: Memory, name: str, arguments: Mapping[str, Any], meta: Mapping[str, Any]) -> Answer:
        session = session_of(self._environment, meta)
        if self._is_pure(memory, session):
            return Answer(
                "纯净模式：本次会话不读取也不保存任何记忆。"
                if memory.language == "zh"
                else "Pure mode: in this session nothing is recalled and nothing is kept."
            )
        from catmem.mcp.arguments import checked

        values = checked(_TOOLS[name], arguments)
        asked = Asked(memory, self._caller(memory, session, values, meta), values, self._offers)
        module, function = _DONE_BY[name]
        return Answer(getattr(import_module(module), function)(asked))

    def _is_pure(self, memory: Memory, session: str) -> bool:
        environment = self._environment
        asked_for = is_pure_environment(environment) or is_helper_environment(environment)
        return asked_for or bool(session and is_pure(str(memory.paths.root), session))

    def _caller(self, memory: Memory, session: str, values: Mapping[str, Any], meta: Mapping[str, Any]) -> Caller:
        if self._project is not None:
            project = memory.projects.registry().home(memory.projects.meant(self._project))
        else:
            project = memory.project_of(folder_of(self._environment, meta, self._folder)).key
        everywhere = self._everywhere or bool(values.get("all_projects")) or not memory.settings.project_scope_enabled
        return Caller(session, project, None if everywhere else project, session or self._name, self._since)
