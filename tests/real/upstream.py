"""A stand-in for Anthropic's Messages API on loopback: answers deterministically and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

# Texts that the assistant puts into a user message itself, in front of what the person typed.
_NOT_TYPED = "<system-reminder>"


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came: path without query, header names in lower case, the parsed body (or {})."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def is_turn(self) -> bool:
        """Whether it asks for the answer to a turn, and is no probe, token count or title."""
        return self.method == "POST" and self.path.endswith("/v1/messages") and bool(self.body.get("tools"))

    @property
    def prompt(self) -> str:
        """What the person typed last."""
        return last_prompt(self.body)

    @property
    def text(self) -> str:
        """Every text of the request, system and messages, as the model reads it."""
        return "\n".join(_texts([self.body.get("system", []), self.body.get("messages", [])]))


def reply_to(prompt: str) -> str:
    """The answer to a prompt: the same for the same prompt, another for a changed one, and none of its words."""
    return f"Understood ({zlib.crc32(prompt.encode()):08x})."


def last_prompt(body: dict[str, Any]) -> str:
    """The last text of the last user message that the person typed; "" if there is none."""
    for message in reversed(body.get("messages", [])):
        if message.get("role") == "user":
            typed = [text for text in _texts(message["content"]) if not text.lstrip().startswith(_NOT_TYPED)]
            if typed:
                return typed[-1].strip()
    return ""


def _texts(content: Any) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from _texts(part)
    elif isinstance(content, dict):
        yield from _texts(content.get("text") or content.get("content"))


@dataclass
class FakeAnthropic:
    """`with FakeAnthropic() as upstream:` listens on a free port of loopback and keeps every request."""

    requests: list[Request] = field(default_factory=list)
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        assert self._server is not None, "enter the context first"
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def turns(self) -> list[Request]:
        return [request for request in self.requests if request.is_turn]

    def __enter__(self) -> Self:
        recorded = self.requests

        class Handler(_Handler):
            requests = recorded

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    requests: list[Request]

    def do_HEAD(self) -> None:
        self._record(b"")
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self._record(b"")
        self._send_json({"data": []})

    def do_POST(self) -> None:
        request = self._record(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if request.path.endswith("/count_tokens"):
            self._send_json({"input_tokens": len(json.dumps(request.body)) // 4})
        elif request.path.endswith("/v1/messages"):
            answer = _answer(request)
            if request.body.get("stream"):
                self._send_stream(answer)
            else:
                self._send_json(answer)
        else:
            self._send_json({"type": "error", "error": {"type": "not_found_error", "message": request.path}}, 404)

    def _record(self, data: bytes) -> Request:
        try:
            body = json.loads(data or b"{}")
        except ValueError:
            body = {}
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path.partition("?")[0], headers, body)
        self.requests.append(request)
        return request

    def _send_json(self, value: dict[str, Any], status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _send_stream(self, answer: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in _stream_events(answer):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the requests are kept, and a test prints what it needs."""


def _answer(request: Request) -> dict[str, Any]:
    # A request for a title wants JSON of the schema it names; one with a title in it serves.
    wants_json = "output_config" in request.body and not request.is_turn
    text = json.dumps({"title": "A session"}) if wants_json else reply_to(request.prompt)
    return {
        "id": f"msg_{zlib.crc32(text.encode()):08x}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model", "fake"),
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }


def _stream_events(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    text = answer["content"][0]["text"]
    yield {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    for start in range(0, len(text), 20):
        piece = {"type": "text_delta", "text": text[start : start + 20]}
        yield {"type": "content_block_delta", "index": 0, "delta": piece}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}
