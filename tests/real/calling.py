"""A stand-in for a model that calls tools: it makes the calls of a script, one a request, and then says that it is done.

It speaks Anthropic's Messages and OpenAI's Responses, streamed, as Claude Code and Codex ask for them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

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
        if path.endswith("/v1/messages") and body.get("tools"):
            self._record(body, [tool["name"] for tool in body["tools"]])
            self._stream(_messages(self.model.next_call(_tool_results(body)), self.model.prefix))
        elif path.endswith("/responses"):
            self._record(body, [inner["name"] for tool in body["tools"] for inner in tool.get("tools", ())])
            self._stream(_responses(self.model.next_call(_outputs(body)), self.model.prefix.rstrip("_")))
        else:
            self._send(404, b"{}")

    def _record(self, body: dict[str, Any], offered: list[str]) -> None:
        self.model.offered.append(offered)
        self.model.texts.append(json.dumps(body, ensure_ascii=False))

    def _stream(self, events: Iterator[dict[str, Any]]) -> None:
        data = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self._send(200, data.encode(), "text/event-stream")

    def _send(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what was asked is kept."""


def _tool_results(body: dict[str, Any]) -> list[str]:
    found = []
    for message in body["messages"]:
        parts = message["content"] if isinstance(message["content"], list) else []
        found += [_text(part.get("content")) for part in parts if part.get("type") == "tool_result"]
    return found


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


def _messages(call: Call | None, prefix: str) -> Iterator[dict[str, Any]]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "fake", "content": []}
    usage = {"input_tokens": 10, "output_tokens": 5}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    if call is None:
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": DONE}}
    else:
        name, arguments = call
        block = {
            "type": "tool_use",
            "id": f"toolu_{name}_{abs(hash(str(arguments)))}",
            "name": prefix + name,
            "input": {},
        }
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "tool_use" if call else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def _outputs(body: dict[str, Any]) -> list[str]:
    outputs = [item["output"] for item in body["input"] if item.get("type") == "function_call_output"]
    return [output if isinstance(output, str) else _text(output) for output in outputs]


def _responses(call: Call | None, namespace: str) -> Iterator[dict[str, Any]]:
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    if call is None:
        content = [{"type": "output_text", "text": DONE, "annotations": []}]
        item = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
    else:
        name, arguments = call
        item = {
            "type": "function_call", "id": f"fc_{name}", "call_id": f"call_{name}", "namespace": namespace,
            "name": name, "arguments": json.dumps(arguments), "status": "completed",
        }  # fmt: skip
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    usage = {
        "input_tokens": 1, "output_tokens": 1, "total_tokens": 2,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0},
    }  # fmt: skip
    yield {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}
