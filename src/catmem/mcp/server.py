"""The protocol of an MCP server that offers tools and nothing else, for one client on stdio.

The thread that reads answers the protocol itself at once; the tools are called one after the other by a second one, so
that a ping is answered and a cancellation heard while a tool works.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from catmem import __version__
from catmem.mcp.wire import INVALID_PARAMS, INVALID_REQUEST, NO_SUCH_METHOD, Refused, Wire, message_of

# The newest first: it is what a client is offered that asks for one which we do not know.
PROTOCOLS = ("2025-11-25", "2025-06-18")
# A client that closes its end may still want what it asked for (`printf … | mem mcp`), but nobody waits longer for it.
LAST_WORDS = 3.0


class Answer(NamedTuple):
    """What a tool says. `failed` tells the model that it did not do what it was asked for, and the text why."""

    text: str
    failed: bool = False


Call = Callable[[str, Mapping[str, Any], Mapping[str, Any]], Answer]
"""Does a call of a tool: its name, its arguments, what the client tells beside them (`_meta`). Never raises."""


class Server:
    def __init__(self, wire: Wire, tools: Sequence[Mapping[str, Any]], call: Call, instructions: str) -> None:
        self._wire = wire
        self._tools = tools
        self._names = {tool["name"] for tool in tools}
        self._call = call
        self._instructions = instructions
        self._waiting: queue.SimpleQueue[tuple[str | int, Mapping[str, Any]] | None] = queue.SimpleQueue()
        self._open: set[str | int] = set()

    def run(self) -> None:
        """Serves until the client closes its end. Raises OSError when it reads no more."""
        worker = threading.Thread(target=self._work, name="tools", daemon=True)
        worker.start()
        for line in self._wire.lines():
            id: str | int | None = None
            try:
                message = message_of(line)
                id = _id_of(message)
                if "method" in message:
                    self._take(id, str(message["method"]), _params_of(message))
                elif "result" not in message and "error" not in message:
                    raise Refused(INVALID_REQUEST, "a message names a method")
            except Refused as refused:
                self._wire.refuse(id, refused)
        self._waiting.put(None)
        worker.join(LAST_WORDS)

    def _take(self, id: str | int | None, method: str, params: Mapping[str, Any]) -> None:
        if id is None:
            if method == "notifications/cancelled":
                self._open.discard(params.get("requestId", ""))
            return
        if method == "tools/call":
            self._check_call(params)
            self._open.add(id)
            self._waiting.put((id, params))
        elif method == "tools/list":
            self._wire.answer(id, {"tools": list(self._tools)})
        elif method == "ping":
            self._wire.answer(id, {})
        elif method == "initialize":
            self._wire.answer(id, self._introduction(params))
        else:
            raise Refused(NO_SUCH_METHOD, f"there is no method {method!r} here")

    def _introduction(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        wanted = params.get("protocolVersion")
        return {
            "protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[0],
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "catmem", "version": __version__},
            "instructions": self._instructions,
        }

    def _check_call(self, params: Mapping[str, Any]) -> None:
        if params.get("name") not in self._names:
            raise Refused(INVALID_PARAMS, f"there is no tool {params.get('name')!r}; tools/list names them")
        for name in ("arguments", "_meta"):
            if not isinstance(params.get(name, {}) or {}, dict):
                raise Refused(INVALID_PARAMS, f"`{name}` must be an object")

    def _work(self) -> None:
        """What was cancelled before its turn is not done; what was cancelled meanwhile is not answered."""
        while (waiting := self._waiting.get()) is not None:
            id, params = waiting
            if id not in self._open:
                continue
            answer = self._call(params["name"], params.get("arguments") or {}, params.get("_meta") or {})
            if id in self._open:
                self._open.discard(id)
                try:
                    self._wire.answer(id, _result(answer))
                except OSError:
                    return  # Nobody reads any more; the thread that reads learns it from the other end.


def _result(answer: Answer) -> Mapping[str, Any]:
    """Unstructured: of a structured result some clients show the model the JSON in place of the text."""
    return {"content": [{"type": "text", "text": answer.text}], "isError": answer.failed}


def _id_of(message: Mapping[str, Any]) -> str | int | None:
    """The id of a request; None for a notification."""
    if "id" not in message:
        return None
    id = message["id"]
    if isinstance(id, bool) or not isinstance(id, str | int):
        raise Refused(INVALID_REQUEST, "an id is a string or a whole number")
    return id


def _params_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    params = message.get("params", {})
    if not isinstance(params, dict):
        raise Refused(INVALID_PARAMS, "`params` must be an object")
    return params
