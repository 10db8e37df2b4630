"""A server on loopback that speaks both interfaces, and misbehaves on demand."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
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
    finish    why the answer ends, in the words of the seam
    usage     what the server counts: (tokens asked, tokens answered)
    refuses   names of the body that this server does not know: it answers 400 and says which
    pause     seconds between two pieces
    delay     seconds before anything
    embeds    makes the vectors of an answer to /embeddings
    """

    pieces: tuple[str, ...] = ()
    status: int = 200
    body: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    breaks: bool = False
    whole: bool = False
    raw: bytes | None = None
    finish: str = "stop"
    usage: tuple[int, int] | None = None
    refuses: tuple[str, ...] = ()
    pause: float = 0.0
    delay: float = 0.0
    embeds: Callable[[list[str]], list[list[float]]] | None = None


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
        unknown = [name for name in reply.refuses if name in body or name in json.dumps(body.get("response_format"))]
        if anthropic and "prefill" in reply.refuses and body["messages"][-1]["role"] == "assistant":
            unknown.append("prefill")
        if unknown:
            said = json.dumps({"error": {"message": f"unknown parameter: {unknown[0]}"}})
            self._send(400, "application/json", [said.encode()], reply)
        elif reply.status != 200:
            self._send(reply.status, "application/json", [reply.body.encode()], reply)
        elif reply.embeds is not None:
            rows = [{"index": place, "embedding": row} for place, row in enumerate(reply.embeds(body["input"]))]
            self._send(200, "application/json", [json.dumps({"data": rows[::-1]}).encode()], reply)
        elif reply.raw is not None:
            self._send(200, "text/event-stream", [reply.raw], reply)
        elif reply.whole:
            self._send(200, "application/json", [_whole(reply, anthropic)], reply)
        else:
            events = _anthropic(reply) if anthropic else _openai(reply)
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


_FINISHES = {"stop": ("stop", "end_turn"), "length": ("length", "max_tokens"), "refusal": ("content_filter", "refusal")}


def _openai(reply: Reply) -> list[bytes]:
    def chunk(delta: dict[str, str], reason: str | None = None) -> bytes:
        return _event({"object": "chat.completion.chunk", "choices": [{"delta": delta, "finish_reason": reason}]})

    return [
        chunk({"role": "assistant", "content": ""}),
        *(chunk({"content": piece}) for piece in reply.pieces),
        chunk({}, _FINISHES[reply.finish][0]),
        _event({"object": "chat.completion.chunk", "choices": [], "usage": _usage(reply, "prompt", "completion")}),
        b"data: [DONE]\n\n",
    ]


def _anthropic(reply: Reply) -> list[bytes]:
    def delta(text: str) -> bytes:
        content = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}
        return _event(content, "content_block_delta")

    usage = _usage(reply, "input", "output")
    begun = {"role": "assistant", "content": [], "usage": {**usage, "output_tokens": 1}}
    reason = {"stop_reason": _FINISHES[reply.finish][1]}
    return [
        _event({"type": "message_start", "message": begun}, "message_start"),
        _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        _event({"type": "ping"}, "ping"),
        *(delta(piece) for piece in reply.pieces),
        _event({"type": "content_block_stop", "index": 0}),
        _event({"type": "message_delta", "delta": reason, "usage": usage}),
        _event({"type": "message_stop"}, "message_stop"),
    ]


def _usage(reply: Reply, asked: str, answered: str) -> dict[str, int]:
    if reply.usage is None:
        return {}
    return {f"{asked}_tokens": reply.usage[0], f"{answered}_tokens": reply.usage[1]}


def _whole(reply: Reply, anthropic: bool) -> bytes:
    text = "".join(reply.pieces)
    finish = _FINISHES[reply.finish][anthropic]
    if anthropic:
        made: dict[str, Any] = {"type": "message", "content": [{"type": "text", "text": text}], "stop_reason": finish}
        made["usage"] = _usage(reply, "input", "output")
    else:
        made = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": finish}]}
        made["usage"] = _usage(reply, "prompt", "completion")
    return json.dumps(made).encode()
