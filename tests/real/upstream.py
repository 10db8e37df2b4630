"""A stand-in for the APIs of models on loopback: answers deterministically and remembers what it was asked."""

from __future__ import annotations

import json
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.real.dialects import Dialect, Event, dialect_of, last_typed, texts_of


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came: path without query, header names in lower case, the parsed body (or {})."""

    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def dialect(self) -> Dialect | None:
        return dialect_of(self.path)

    @property
    def is_turn(self) -> bool:
        """Whether it asks for the answer to a turn, and is no probe, token count or title."""
        asked = self.method == "POST" and self.dialect is not None
        return asked and self.dialect.is_turn(self.path, self.body, self.headers)  # type: ignore[union-attr]

    @property
    def prompt(self) -> str:
        """What the person typed last."""
        return last_typed(self.dialect.said(self.body)) if self.dialect else ""

    @property
    def text(self) -> str:
        """Every text of the request, system and messages, as the model reads it."""
        return "\n".join(texts_of(self.dialect.told(self.body))) if self.dialect else ""


def reply_to(prompt: str) -> str:
    """The answer to a prompt: the same for the same prompt, another for a changed one, and none of its words."""
    return f"Understood ({zlib.crc32(prompt.encode()):08x})."


@dataclass
class FakeUpstream:
    """`with FakeUpstream() as upstream:` listens on a free port of loopback and keeps every request."""

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
        elif request.dialect:
            answer = request.dialect.answer(request.body, _text(request))
            if request.body.get("stream") or request.path.endswith(":streamGenerateContent"):
                self._send_stream(request.dialect.stream(answer))
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

    def _send_stream(self, events: Iterator[Event]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for name, data in events:
            spelled = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {spelled}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: the requests are kept, and a test prints what it needs."""


def _text(request: Request) -> str:
    # A request for a title may want JSON of the schema it names; one with a title in it serves.
    wants_json = "output_config" in request.body and not request.is_turn
    return json.dumps({"title": "A session"}) if wants_json else reply_to(request.prompt)
