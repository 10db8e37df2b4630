"""A data directory with a proxy in front of a server, and a client that speaks in bytes."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from catmem.capture.remember import remember
from catmem.domain.message import Message
from catmem.inject.failures import recent_failures
from catmem.proxy.reading import Manner
from catmem.proxy.recorder import Recorder
from catmem.proxy.server import Proxy, ProxyThread
from catmem.settings.config import create_config
from catmem.wiring import Catmem

PROJECT = "teapot-1234abcd"
# What a memory says in the tests: in each language, with signs that JSON escapes.
KNOWN = 'the teapot is "blue"; 茶壶放在第三层 \\ shelf'
# Seconds, far above any run seen: it only turns a hang into a failure.
_PATIENCE = 60.0


@dataclass
class World:
    """`said(key)` is what was recorded of a session; `stop` writes what is still held."""

    root: Path
    proxy: Proxy
    recorder: Recorder
    thread: ProxyThread
    catmem: Catmem
    stopped: bool = field(default=False)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.proxy.port}"

    def stop(self) -> None:
        if not self.stopped:
            self.stopped = True
            self.thread.stop()
            self.recorder.stop()

    def settled(self) -> None:
        """Everything that has ended so far is on disk: what the client has seen, the loop is done with first."""
        assert self.thread.loop is not None
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self.thread.loop).result(_PATIENCE)
        assert self.recorder.flush(_PATIENCE)

    @property
    def keys(self) -> list[str]:
        return sorted(header.key for header in self.catmem.history.headers())

    def messages(self, key: str = "") -> list[Message]:
        """Of the session with that key, or of the only one."""
        refs = [header.ref for header in self.catmem.history.headers() if key in ("", header.key)]
        assert len(refs) == 1, refs
        return self.catmem.history.messages(refs[0])

    def said(self, key: str = "") -> list[tuple[str, str]]:
        return [(message.role, message.content) for message in self.messages(key)]

    @property
    def faults(self) -> list[str]:
        return [f"{fault['error']} {fault['where']}" for fault in recent_failures(self.catmem.paths)]

    def knows(self, text: str = KNOWN, project: str = PROJECT) -> None:
        catmem = Catmem(self.root)
        remember(
            catmem.store, text, project=project, scope="project", kind="convention", session="", redact=lambda t, s: t,
            clock=catmem.clock,
        )  # fmt: skip
        catmem.index.catch_up(catmem.store, catmem.history)
        catmem.close()

    def connect(self) -> Client:
        return Client(socket.create_connection(("127.0.0.1", self.proxy.port)))

    def ask(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        """One request as most programs send it; the status and the body without its framing."""
        with self.connect() as client:
            return client.ask(path, body, headers)


@contextlib.contextmanager
def serving(
    root: Path, upstream: str, *, pure: bool = False, token: str = "", distil: bool = False, **manner: Any
) -> Iterator[World]:
    catmem = Catmem(root)
    create_config(catmem.paths)
    addresses = {"anthropic": upstream, "openai": f"{upstream}/v1", "gemini": upstream}
    proxy, recorder = catmem.proxy(
        addresses, Manner(**{"project": PROJECT, **manner}), environment=os.environ, pure=pure, token=token
    )
    recorder.distils = distil
    thread = ProxyThread(proxy)
    thread.start()
    recorder.start()
    world = World(root, proxy, recorder, thread, Catmem(root))
    with pytest.MonkeyPatch.context() as patch:
        # On a busy machine a request would pass unread that took too long to understand: right, but not what is tested.
        patch.setattr("catmem.proxy.server._READING_SECONDS", _PATIENCE)
        try:
            yield world
        finally:
            world.stop()


class Client:
    """A connection. `raw` sends bytes and returns the whole answer as it came, framing and all."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(60)
        self._rest = b""

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def ask(self, path: str, body: object, headers: Mapping[str, str] | None = None) -> tuple[int, bytes]:
        data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        told = {"Host": "localhost", "Content-Type": "application/json", "Content-Length": str(len(data))}
        lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in {**told, **(headers or {})}.items())]
        answer = self.raw(("\r\n".join(lines) + "\r\n\r\n").encode() + data)
        head, _, framed = answer.partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]), _unframed(framed) if b"chunked" in head.lower() else framed

    def raw(self, request: bytes) -> bytes:
        self.socket.sendall(request)
        return self.answer()

    def answer(self) -> bytes:
        """One response, or what there is of it when the connection ends."""
        data = self._rest
        while b"\r\n\r\n" not in data:
            more = self.socket.recv(1 << 16)
            if not more:
                return data
            data += more
        head = data.split(b"\r\n\r\n", 1)[0].lower()
        end = _end_of(head, data)
        while end is None or len(data) < end:
            more = self.socket.recv(1 << 20)
            if not more:
                break
            data += more
            end = _end_of(head, data)
        self._rest = data[end:] if end is not None else b""
        return data if end is None else data[:end]


def _end_of(head: bytes, data: bytes) -> int | None:
    """Where the response ends; None as long as that cannot be told."""
    start = data.index(b"\r\n\r\n") + 4
    for line in head.split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return start + int(line.split(b":")[1])
    if b"transfer-encoding: chunked" in head:
        place = data.find(b"0\r\n\r\n", start)
        while place >= 0 and data[place - 2 : place] != b"\r\n" and place != start:
            place = data.find(b"0\r\n\r\n", place + 1)
        return place + 5 if place >= 0 and data.endswith(b"0\r\n\r\n") else None
    return None


def _unframed(data: bytes) -> bytes:
    body = b""
    while data:
        line, _, data = data.partition(b"\r\n")
        size = int(line or b"0", 16)
        if size == 0:
            break
        body, data = body + data[:size], data[size + 2 :]
    return body
