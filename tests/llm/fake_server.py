"""A server on loopback that speaks both interfaces, and misbehaves on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Reply:
    """How a request is answered: `pieces` as a stream, unless one of the others is set.

    status    with `body` as it stands, and `headers`
    breaks    the connection is cut after the pieces, before the end of the answer
    whole     as one JSON object, not streamed
    raw       these bytes as the stream
    pause     seconds between two pieces
    delay     seconds before anything
    """

    pieces: tuple[str, ...] = ()
    status: int = 200
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    breaks: bool = False
    whole: bool = False
    raw: bytes | None = None
    pause: float = 0.0
    delay: float = 0.0


@dataclass
class FakeServer:
    """`replies` are used up one by one, the last stays; `requests` are (path, headers, body) as they came.

    `left` is set when a client goes before its answer is complete.
    """

    replies: list[Reply] = field(default_factory=list)
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)
    url: str = ""
    left: threading.Event = field(default_factory=threading.Event)

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [body for _, _, body in self.requests]


@contextmanager
def serving(*replies: Reply) -> Iterator[FakeServer]:
    fake = FakeServer(list(replies))

    class Handler(_Handler):
        server_state = fake

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    server_state: FakeServer

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = json.loads(self.rfile.read(length))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server_state.requests.append((self.path, headers, body))
        reply = self.server_state.next_reply()
        time.sleep(reply.delay)
        anthropic = self.path.endswith("/messages")
        if reply.status != 200:
            self._send(reply.status, "application/json", [reply.body.encode()], reply)
        elif reply.raw is not None:
            self._send(200, "text/event-stream", [reply.raw], reply)
        elif reply.whole:
            self._send(200, "application/json", [_whole("".join(reply.pieces), anthropic)], reply)
        else:
            events = _anthropic(reply.pieces) if anthropic else _openai(reply.pieces)
            # A little before the end of what was said, and after it nothing.
            shown = events[: _opening(anthropic) + len(reply.pieces)] if reply.breaks else events
            self._send(200, "text/event-stream", shown, reply)

    def do_GET(self) -> None:
        raise AssertionError("nothing of ours asks with GET")

    def _send(self, status: int, kind: str, parts: Sequence[bytes], reply: Reply) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.end_headers()
        try:
            for part in parts:
                self.wfile.write(part)
                self.wfile.flush()
                time.sleep(reply.pause)
        except OSError:
            self.server_state.left.set()

    def log_message(self, *_: object) -> None:
        pass


def _opening(anthropic: bool) -> int:
    return 3 if anthropic else 1


def _event(data: object, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _openai(pieces: Sequence[str]) -> list[bytes]:
    def chunk(delta: dict[str, str], reason: str | None = None) -> bytes:
        return _event({"object": "chat.completion.chunk", "choices": [{"delta": delta, "finish_reason": reason}]})

    return [
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": piece}) for piece in pieces),
        chunk({}, "stop"),
        _event({"object": "chat.completion.chunk", "choices": [], "usage": {"total_tokens": 7}}),
        b"data: [DONE]\n\n",
    ]


def _anthropic(pieces: Sequence[str]) -> list[bytes]:
    def delta(text: str) -> bytes:
        content = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        return _event(content, "content_block_delta")

    return [
        _event({"type": "message_start", "message": {"role": "assistant", "content": []}}, "message_start"),
        _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        _event({"type": "ping"}, "ping"),
        *(delta(piece) for piece in pieces),
        _event({"type": "content_block_stop", "index": 0}),
        _event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
        _event({"type": "message_stop"}, "message_stop"),
    ]


def _whole(text: str, anthropic: bool) -> bytes:
    if anthropic:
        made: dict[str, Any] = {"type": "message", "content": [{"type": "text", "text": text}]}
    else:
        made = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    return json.dumps(made).encode()
