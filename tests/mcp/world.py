"""A data directory with two projects, and the tools called on it without a process between."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from catmem.capture.remember import remember
from catmem.domain.memory import Kind, Scope
from catmem.domain.message import Message, ToolCall
from catmem.domain.session import SessionRef
from catmem.mcp.server import Answer
from catmem.mcp.toolbox import Toolbox
from catmem.wiring import Catmem

SESSION = "0f3cbb0e-7a45-4a2e-9d0a-3f2f5d1c9b11"
KEY = f"claude-code:{SESSION}"
ENGLISH, CHINESE = "we use pnpm here, never npm", "部署之前先跑 make smoketest"
# Noon of a Wednesday.
NOW = 1_782_907_200.0


class World:
    def __init__(self, root: Path, language: str = "en") -> None:
        self.data, self.folder = root / "data", root / "shop"
        self.folder.mkdir(exist_ok=True)
        self.language = language
        self.environment = {"CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDE_PROJECT_DIR": str(self.folder)}
        self.toolbox = self.tools()
        self.data.mkdir(exist_ok=True)
        (self.data / "config.yaml").write_text(f"language: {language}\n")

    def tools(self, environment: Mapping[str, str] | None = None, **how: Any) -> Toolbox:
        """Another server on the same data."""
        return Toolbox(
            self.open, self.environment if environment is None else environment, str(self.folder), "mcp:test", **how
        )

    def open(self) -> Catmem:
        return Catmem(self.data, lambda: NOW)

    @property
    def project(self) -> str:
        return self.project_of(self.folder)

    def project_of(self, folder: Path) -> str:
        catmem = self.open()
        try:
            return str(catmem.project_of(str(folder)).key)
        finally:
            catmem.close()

    def call(self, tool: str, **arguments: Any) -> str:
        answer = self.answer(tool, **arguments)
        assert not answer.failed, answer.text
        return answer.text

    def fail(self, tool: str, **arguments: Any) -> str:
        answer = self.answer(tool, **arguments)
        assert answer.failed, answer.text
        return answer.text

    def answer(self, tool: str, **arguments: Any) -> Answer:
        return self.toolbox.call(tool, arguments, {})

    def saved(self, text: str, *, project: str = "", scope: Scope = "project", kind: Kind = "note") -> str:
        """What the user has saved before, on the command line."""
        catmem = self.open()
        try:
            return remember(
                catmem.store,
                text,
                project=project or self.project,
                scope=scope,
                kind=kind,
                session="command-line",
                redact=catmem.redact,
                clock=catmem.clock,
            )
        finally:
            catmem.close()

    def said(self, *texts: str, key: str = KEY, project: str = "", day: str = "2026-07-01") -> None:
        """Captures messages of a session, the present one unless `key` names another."""
        catmem = self.open()
        ref = SessionRef(project or self.project, key)
        known = len(catmem.history.messages(ref)) if catmem.history.exists(ref) else 0
        messages = [
            Message("user", text, f"{day}T09:{known + number:02d}:00.000Z", f"said-{known + number}")
            for number, text in enumerate(texts)
        ]
        catmem.history.append(ref, messages, client="claude-code", cwd=str(self.folder))
        catmem.close()

    def read(self, path: str, content: str) -> None:
        """The assistant reads a file, whose content is a tool's result."""
        call = ToolCall("call-1", "Read", json.dumps({"path": path}))
        stamp = "2026-07-01T10:00:00.000Z"
        messages = [
            Message("assistant", "", stamp, "read-1", tool_calls=(call,)),
            Message("tool", content, stamp, "read-2", tool_call_id="call-1"),
        ]
        catmem = self.open()
        catmem.history.append(SessionRef(self.project, KEY), messages)
        catmem.close()

    def memories(self) -> list[Any]:
        """The memories in force, of all projects."""
        catmem = self.open()
        try:
            catmem.store.catch_up()
            return catmem.store.live()
        finally:
            catmem.close()

    def distil(self) -> None:
        """The background work on all sessions, now."""
        catmem = self.open()
        catmem.distiller.run(everything=True)
        catmem.close()

    def forget(self, words: str) -> str:
        """Both calls of it."""
        token = re.search(r'token "(\w+)"', self.call("forget", words=words))
        assert token
        return self.call("forget", token=token[1])
