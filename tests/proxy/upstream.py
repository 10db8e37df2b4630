"""A server on loopback that keeps the very bytes it was sent, and answers with the very bytes it is told to send."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self


@dataclass(frozen=True, slots=True)
class Sent:
    """One request as it came: its head with the empty line, and its body as it was framed."""

    head: bytes
    body: bytes

    @property
    def line(self) -> bytes:
        return self.head.split(b"\r\n", 1)[0]

    @property
    def headers(self) -> list[bytes]:
        return self.head.rstrip(b"\r\n").split(b"\r\n")[1:]


@dataclass(frozen=True, slots=True)
class Script:
    """What is answered: pieces sent one by one, `pause` seconds apart.

    closes   the connection is closed behind them
    resets   it is torn down instead
    before   called before anything is sent
    """

    pieces: Sequence[bytes]
    pause: float = 0.0
    closes: bool = False
    resets: bool = False
    before: Callable[[], object] = lambda: None


def whole(body: bytes, status: str = "200 OK", *headers: str, kind: str = "application/json") -> Script:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return Script([("\r\n".join(lines) + "\r\n\r\n").encode() + body])


def streamed(pieces: Sequence[bytes], *headers: str, kind: str = "text/event-stream", pause: float = 0.0) -> Script:
    """A chunked stream, each piece a chunk that is sent by itself."""
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {kind}", "Transfer-Encoding: chunked", *headers]
    head = ("\r\n".join(lines) + "\r\n\r\n").encode()
    chunks = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces if piece]
    return Script([head, *chunks, b"0\r\n\r\n"], pause=pause)


@dataclass
class Upstream:
    """`with Upstream(script) as upstream:`; the last script stays. `gone` counts clients that left in an answer."""

    scripts: list[Script] = field(default_factory=list)
    sent: list[Sent] = field(default_factory=list)
    gone: int = 0
    _socket: socket.socket | None = None
    _open: set[socket.socket] = field(default_factory=set)

    @property
    def port(self) -> int:
        assert self._socket is not None
        return int(self._socket.getsockname()[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._socket is not None
        self._socket.close()
        for connection in list(self._open):
            connection.close()

    def _accept(self) -> None:
        assert self._socket is not None
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        rest = b""
        try:
            while True:
                request, rest = _read_request(connection, rest)
                if request is None:
                    break
                self.sent.append(request)
                script = self.scripts.pop(0) if len(self.scripts) > 1 else self.scripts[0]
                script.before()
                if not self._answer(connection, script):
                    break
        except OSError:
            pass
        finally:
            self._open.discard(connection)
            connection.close()

    def _answer(self, connection: socket.socket, script: Script) -> bool:
        try:
            for piece in script.pieces:
                connection.sendall(piece)
                time.sleep(script.pause)
        except OSError:
            self.gone += 1
            return False
        if script.resets:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        return not (script.closes or script.resets)


def _read_request(connection: socket.socket, data: bytes) -> tuple[Sent | None, bytes]:
    while b"\r\n\r\n" not in data:
        more = connection.recv(1 << 16)
        if not more:
            return None, b""
        data += more
    head, data = data.split(b"\r\n\r\n", 1)
    head += b"\r\n\r\n"
    told = {line.split(b":")[0].strip().lower(): line.split(b":", 1)[1].strip() for line in head.split(b"\r\n")[1:-2]}
    if b"chunked" in told.get(b"transfer-encoding", b""):
        body, data = _read_chunked(connection, data)
    else:
        length = int(told.get(b"content-length", b"0"))
        data = _at_least(connection, data, length)
        body, data = data[:length], data[length:]
    return Sent(head, body), data


def _read_chunked(connection: socket.socket, data: bytes) -> tuple[bytes, bytes]:
    """The body without its framing: where it is cut is nobody's business."""
    body = b""
    while True:
        while b"\r\n" not in data:
            data = _at_least(connection, data, len(data) + 1)
        line, data = data.split(b"\r\n", 1)
        size = int(line.split(b";")[0], 16)
        data = _at_least(connection, data, size + 2)
        body, data = body + data[:size], data[size + 2 :]
        if size == 0:
            return body, data


def _at_least(connection: socket.socket, data: bytes, length: int) -> bytes:
    pieces, size = [data], len(data)
    while size < length:
        more = connection.recv(1 << 20)
        if not more:
            raise ConnectionError("the client left in the middle of a body")
        pieces.append(more)
        size += len(more)
    return b"".join(pieces)
