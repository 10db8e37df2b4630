"""A stand-in for a model that calls tools: it makes the calls of a script, one a request, and then says that it is done.

It speaks what the assistants ask for, streamed: Anthropic's Messages (Claude Code), OpenAI's Responses (Codex) and Chat
Completions (opencode), Google's streamGenerateContent (Gemini CLI).
"""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Protocol, Self

Call = tuple[str, dict[str, Any]]
DONE = "All done."


class CallingUpstream:
    """`with CallingUpstream([("recall", {...})]) as upstream:`; `results` are what the tools gave back, as texts.

    `offered` are the names under which each request offered tools, `texts` all words of each request.
    """

    def __init__(self, calls: Sequence[Call], prefix: str = "mcp__catmem__") -> None:
        self.calls = list(calls)
        self.prefix = prefix
        self.results: list[str] = []
        self.offered: list[list[str]] = []
        self.texts: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        upstream = self

        class Handler(_Handler):
            model = upstream

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def next_call(self, results: Sequence[str]) -> Call | None:
        """What the model does after so many results."""
        self.results = list(results)
        return self.calls[len(results)] if len(results) < len(self.calls) else None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: CallingUpstream

    def do_HEAD(self) -> None:
        self._send(200, b"")

    def do_GET(self) -> None:
        self._send(426, b"")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        path = self.path.partition("?")[0]
        wire = next((wire for end, wire in _WIRES if path.endswith(end)), None)
        offered = wire.offered(body) if wire else []
        if wire is None or not offered:
            # A title, a count of tokens, a router.
            self._send(404, b"{}")
            return
        self.model.offered.append(offered)
        self.model.texts.append(json.dumps(body, ensure_ascii=False))
        call = self.model.next_call(wire.results(body))
        data = "".join(_spelled(event) for event in wire.events(call, self.model.prefix))
        self._send(200, data.encode(), "text/event-stream")

    def _send(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what was asked is kept."""


def _spelled(event: dict[str, Any]) -> str:
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n"


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


class _Messages:
    def offered(self, body: dict[str, Any]) -> list[str]:
        return [tool["name"] for tool in body.get("tools", ())]

    def results(self, body: dict[str, Any]) -> list[str]:
        lists = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
        return [_text(part.get("content")) for parts in lists for part in parts if part.get("type") == "tool_result"]

    def events(self, call: Call | None, prefix: str) -> Iterator[dict[str, Any]]:
        usage = {"input_tokens": 10, "output_tokens": 5}
        about = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": [], "usage": usage}
        yield {"type": "message_start", "message": {**about, "stop_reason": None, "stop_sequence": None}}
        if call is None:
            block: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": DONE}
        else:
            id = f"toolu_{zlib.crc32(repr(call).encode()):08x}"
            block = {"type": "tool_use", "id": id, "name": prefix + call[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
        stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
        yield {"type": "message_delta", "delta": stop, "usage": usage}
        yield {"type": "message_stop"}


class _Responses:
    """Codex offers the tools of a server under one name, and so they are called."""

    def offered(self, body: dict[str, Any]) -> list[str]:
        return [inner["name"] for tool in body["tools"] for inner in tool.get("tools", ())]

    def results(self, body: dict[str, Any]) -> list[str]:
        return [_text(item["output"]) for item in body["input"] if item.get("type") == "function_call_output"]

    def events(self, call: Call | None, prefix: str) -> Iterator[dict[str, Any]]:
        yield {"type": "response.created", "response": {"id": "resp_1"}}
        if call is None:
            content = [{"type": "output_text", "text": DONE, "annotations": []}]
            item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
        else:
            item = {
                "type": "function_call", "id": f"fc_{call[0]}", "call_id": f"call_{call[0]}", "status": "completed",
                "namespace": prefix.rstrip("_"), "name": call[0], "arguments": json.dumps(call[1]),
            }  # fmt: skip
        yield {"type": "response.output_item.done", "output_index": 0, "item": item}
        usage = {
            "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
        }  # fmt: skip
        yield {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}


class _Chat:
    def offered(self, body: dict[str, Any]) -> list[str]:
        return [tool["function"]["name"] for tool in body.get("tools", ())]

    def results(self, body: dict[str, Any]) -> list[str]:
        return [_text(message["content"]) for message in body["messages"] if message["role"] == "tool"]

    def events(self, call: Call | None, prefix: str) -> Iterator[dict[str, Any]]:
        about = {"id": "chatcmpl_1", "object": "chat.completion.chunk", "created": 0, "model": "fake"}
        delta: dict[str, Any] = {"role": "assistant", "content": DONE}
        if call is not None:
            function = {"name": prefix + call[0], "arguments": json.dumps(call[1])}
            made = {"index": 0, "id": f"call_{call[0]}", "type": "function", "function": function}
            delta = {"role": "assistant", "tool_calls": [made]}
        yield {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        reason = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        yield {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}], "usage": usage}


class _Gemini:
    def offered(self, body: dict[str, Any]) -> list[str]:
        return [one["name"] for tool in body.get("tools", ()) for one in tool.get("functionDeclarations", ())]

    def results(self, body: dict[str, Any]) -> list[str]:
        parts = [part for content in body["contents"] for part in content["parts"]]
        answers = [part["functionResponse"]["response"] for part in parts if "functionResponse" in part]
        return [json.dumps(answer, ensure_ascii=False) for answer in answers]

    def events(self, call: Call | None, prefix: str) -> Iterator[dict[str, Any]]:
        part = {"functionCall": {"name": prefix + call[0], "args": call[1]}} if call else {"text": DONE}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        content = {"role": "model", "parts": [part]}
        yield {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}


class _Wire(Protocol):
    def offered(self, body: dict[str, Any]) -> list[str]: ...
    def results(self, body: dict[str, Any]) -> list[str]: ...
    def events(self, call: Call | None, prefix: str) -> Iterator[dict[str, Any]]: ...


_WIRES: tuple[tuple[str, _Wire], ...] = (
    ("/v1/messages", _Messages()),
    ("/responses", _Responses()),
    ("/chat/completions", _Chat()),
    (":streamGenerateContent", _Gemini()),
)
