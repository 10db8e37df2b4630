"""A client of ours that speaks to `mem mcp` line by line, and may send what no library would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self

# Far above any answer seen on a busy machine; it only turns a hang into a failure.
PATIENCE = 60
COMMAND = (sys.executable, "-m", "catmem", "mcp")
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


class Client:
    """`with Client(home, folder) as client:` starts a server as an assistant does; its end closes stdin."""

    def __init__(
        self, home: Path, folder: Path, *options: str, environment: Mapping[str, str] | None = None, data: str = ""
    ) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, *options],
            cwd=folder,
            env=environment_of(home, data, environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()
        self._last = 0

    def send(self, message: Mapping[str, Any] | bytes) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message, ensure_ascii=False).encode() + b"\n"
        assert self.process.stdin
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def receive(self) -> Any:
        """The next message of the server."""
        return json.loads(self._lines.get(timeout=PATIENCE))

    def ask(self, method: str, **params: Any) -> Any:
        """Asks, and returns the result, or the error."""
        self._last += 1
        self.send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self._last, answer
        return answer["result"] if "result" in answer else answer["error"]

    def hello(self) -> Any:
        introduction = self.ask("initialize", **HELLO)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return introduction

    def call(self, tool: str, meta: Mapping[str, Any] | None = None, **arguments: Any) -> str:
        """The text of an answer that did what was asked."""
        result = self.ask("tools/call", name=tool, arguments=arguments, _meta=meta or {})
        assert result["isError"] is False, result
        return str(result["content"][0]["text"])

    def fail(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that says why not."""
        result = self.ask("tools/call", name=tool, arguments=arguments)
        assert result["isError"] is True, result
        return str(result["content"][0]["text"])

    def close(self) -> int:
        """Closes stdin; returns the exit code."""
        assert self.process.stdin
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(PATIENCE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.close()
        finally:
            self.process.kill()
            self.process.wait()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)


def environment_of(home: Path, data: str = "", more: Mapping[str, str] | None = None) -> dict[str, str]:
    """A variable of the machine that runs the tests would name a session of its own."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "CATMEM_DIR": data or str(home / ".catmem"),
        "PYTHONDONTWRITEBYTECODE": "1",
        **(more or {}),
    }
