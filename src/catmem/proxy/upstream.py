"""The connection to the server that the user configured: what it sends goes to the client as it comes.

Each client connection has one of its own, so that keep-alive, closing and early ends are those of the server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import httptools

from catmem.proxy.http1 import Headers

_BUFFER_BYTES = 64 << 10


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an upstream listens."""

    host: str
    port: int
    secure: bool

    @property
    def name(self) -> bytes:
        """What a Host header says."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == (443 if self.secure else 80)
        return (host if usual else f"{host}:{self.port}").encode("idna" if not self.host.isascii() else "ascii")


class Listener(Protocol):
    """Who hears a response while it passes."""

    def heard(self, status: int, headers: Headers) -> None: ...

    def take(self, piece: bytes) -> None: ...

    def end(self, complete: bool) -> None: ...


class Receiver(Protocol):
    """The client's side of an exchange, as the server's side needs it."""

    def pass_on(self, data: bytes) -> None: ...

    def upstream_lost(self) -> None: ...

    def hold_request(self, held: bool) -> None: ...

    def fault(self, error: Exception) -> None: ...


class UpstreamSide(asyncio.BufferedProtocol):
    """Passes a server's bytes to `receiver` at once, and only watches where each response ends."""

    def __init__(self, receiver: Receiver, origin: Origin) -> None:
        self.origin = origin
        self.transport: asyncio.Transport | None = None
        self._receiver = receiver
        self._parser: httptools.HttpResponseParser | None = None
        self._listener: Listener | None = None
        self._method = ""
        self._headers: list[tuple[bytes, bytes]] = []
        self._status = 0
        self._framed = False
        self._done: asyncio.Future[bool] | None = None
        self._tunnel = False
        # Filled again and again: to allocate what asyncio reads at most, 256 KiB, costs more than to pass an event on.
        self._buffer = bytearray(_BUFFER_BYTES)
        self._view = memoryview(self._buffer)

    @property
    def is_open(self) -> bool:
        return self.transport is not None and not self.transport.is_closing()

    def expect(self, method: str, listener: Listener | None) -> asyncio.Future[bool]:
        """Says that a request goes out. The result tells whether the connection can carry another one."""
        self._method, self._listener = method, listener
        self._parser = httptools.HttpResponseParser(self)
        self._status, self._framed = 0, False
        self._done = asyncio.get_running_loop().create_future()
        return self._done

    @property
    def answered(self) -> bool:
        """True once a response of the present request has begun."""
        return self._status >= 200 or self._tunnel

    @property
    def is_tunnel(self) -> bool:
        return self._tunnel

    def write(self, data: bytes) -> None:
        if self.is_open and self.transport is not None:
            self.transport.write(data)

    def close(self) -> None:
        """Ends the connection; a response under way is cut off."""
        self._finish(complete=False, again=False)
        if self.transport is not None:
            self.transport.abort()

    def drop(self) -> None:
        """Ends a connection that is not needed any more; its end is no news to anybody."""
        self._receiver = _NOBODY
        self.close()

    def hold(self, held: bool) -> None:
        """Stops reading while the client is slower than the server."""
        if self.transport is None or self.transport.is_closing():
            return
        if held:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        data = bytes(self._view[:nbytes])
        self._receiver.pass_on(data)
        if self._tunnel:
            return
        if self._parser is None:
            # A server that speaks unasked: what is meant cannot be known.
            self.close()
            self._receiver.upstream_lost()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._tunnel = True
        except httptools.HttpParserError:
            # Not for us to judge: the client has the bytes. Where the response ends only the connection tells.
            self._tunnel = True
            self._tell_end(complete=False)

    def connection_lost(self, error: Exception | None) -> None:
        # A response that names no length ends with its connection.
        whole = error is None and self.answered and not self._framed
        self._finish(complete=whole, again=False)
        self._receiver.upstream_lost()

    def pause_writing(self) -> None:
        self._receiver.hold_request(True)

    def resume_writing(self) -> None:
        self._receiver.hold_request(False)

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._headers = []

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        if self._parser is None:
            return
        self._status = self._parser.get_status_code()
        if self._status < 200:
            return
        names = {name for name, _ in self._headers}
        bodiless = self._method == "HEAD" or self._status in (204, 304)
        self._framed = bodiless or bool(names & {b"content-length", b"transfer-encoding"})
        self._tell(lambda listener: listener.heard(self._status, tuple(self._headers)))
        if self._method == "HEAD":
            # The parser would wait for the body that is only described.
            self._finish(complete=True, again=self._parser.should_keep_alive())

    def on_body(self, piece: bytes) -> None:
        # Not by `_tell`: this is the way of every event of a stream.
        if self._listener is not None:
            try:
                self._listener.take(piece)
            except Exception as error:
                self._listener = None
                self._receiver.fault(error)

    def on_message_complete(self) -> None:
        if self._status >= 200 and self._parser is not None:
            self._finish(complete=True, again=self._parser.should_keep_alive())

    def _finish(self, *, complete: bool, again: bool) -> None:
        self._parser = None
        self._tell_end(complete)
        if self._done is not None and not self._done.done():
            self._done.set_result(again)

    def _tell_end(self, complete: bool) -> None:
        self._tell(lambda listener: listener.end(complete))
        self._listener = None

    def _tell(self, say: Callable[[Listener], None]) -> None:
        """A fault of ours ends the listening, never the passing."""
        if self._listener is not None:
            try:
                say(self._listener)
            except Exception as error:
                self._listener = None
                self._receiver.fault(error)


class _Nobody:
    def pass_on(self, data: bytes) -> None: ...

    def upstream_lost(self) -> None: ...

    def hold_request(self, held: bool) -> None: ...

    def fault(self, error: Exception) -> None: ...


_NOBODY = _Nobody()
