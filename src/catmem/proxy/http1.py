"""HTTP/1 as a proxy needs it: the head of a request, and what a client sends as a row of parts.

Headers keep their spelling and their order; nothing is joined, sorted or left out on the way through.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import httptools

Headers = tuple[tuple[bytes, bytes], ...]

# A request line with its headers beyond this is an attack or a mistake; servers stop at 8 to 64 KiB.
LONGEST_HEAD = 128 << 10


class TooLong(Exception):
    """A head that does not end; does not leave this package."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first lines of a request, as they came. `upgrade`: another protocol is to follow on the connection."""

    method: str
    target: bytes
    version: str
    headers: Headers
    upgrade: bool = False

    def value(self, name: bytes) -> str:
        """The value of a header, "" if there is none; `name` in lower case."""
        found = next((value for key, value in self.headers if key.lower() == name), b"")
        return found.decode("latin-1")

    @property
    def is_chunked(self) -> bool:
        return "chunked" in self.value(b"transfer-encoding").lower()

    @property
    def length(self) -> int:
        """What Content-Length says, -1 without one."""
        said = self.value(b"content-length")
        return int(said) if said.isascii() and said.isdigit() else -1

    @property
    def has_body(self) -> bool:
        return self.is_chunked or self.length > 0

    def without(self, names: Iterable[bytes]) -> Head:
        """The same without the headers of these names (in lower case)."""
        gone = frozenset(names)
        return replace(self, headers=tuple(row for row in self.headers if row[0].lower() not in gone))

    def to(self, target: bytes, host: bytes) -> Head:
        """The same, addressed to another server."""
        headers = tuple((key, host if key.lower() == b"host" else value) for key, value in self.headers)
        if not any(key.lower() == b"host" for key, _ in headers):
            headers = ((b"Host", host), *headers)
        return replace(self, target=target, headers=headers)

    def with_length(self, length: int) -> Head:
        """The same for a body of `length` bytes in one piece."""
        said = str(length).encode()
        if self.is_chunked:
            return replace(self.without((b"transfer-encoding",)), headers=(*self._other, (b"Content-Length", said)))
        headers = tuple((key, said if key.lower() == b"content-length" else value) for key, value in self.headers)
        return replace(self, headers=headers)

    @property
    def _other(self) -> Headers:
        return self.without((b"transfer-encoding", b"content-length")).headers

    def __bytes__(self) -> bytes:
        lines = [b"%s %s HTTP/%s" % (self.method.encode(), self.target, self.version.encode())]
        lines += [b"%s: %s" % row for row in self.headers]
        return b"\r\n".join(lines) + b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class End:
    """A request is complete."""


@dataclass(frozen=True, slots=True)
class Rest:
    """What came behind a request for another protocol; HTTP is over on this connection."""

    data: bytes


Part = Head | bytes | End | Rest


class RequestReader:
    """Hands every part of what a client sends to `give`, in order: a head, pieces of its body, an end, the next head.

    `feed` raises httptools.HttpParserError for what is no HTTP, TooLong for a head without an end.
    """

    def __init__(self, give: Callable[[Part], None]) -> None:
        self._give = give
        self._parser = httptools.HttpRequestParser(self)
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._size = 0
        self._is_other = False
        self._plain: Head | None = None

    @property
    def is_other(self) -> bool:
        """True once the client has left HTTP: what comes is handed on as it is."""
        return self._is_other

    def feed(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as switch:
            self._switch(data[switch.args[0] :])
        except httptools.HttpParserCallbackError as error:
            if isinstance(error.__context__, TooLong):
                raise TooLong from None
            raise

    def _switch(self, rest: bytes) -> None:
        """Another protocol follows. Java's client offers HTTP/2 with every request; none of those takes it up."""
        if self._plain is None:
            self._is_other = True
            self._give(Rest(rest))
            return
        plain, self._plain = self._plain, None
        self._parser = httptools.HttpRequestParser(self)
        self.feed(bytes(plain) + rest)

    # What the parser calls.

    def on_message_begin(self) -> None:
        self._target, self._headers, self._size = b"", [], 0

    def on_url(self, piece: bytes) -> None:
        self._target += piece
        self._grow(len(piece))

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name, value))
        self._grow(len(name) + len(value))

    def on_headers_complete(self) -> None:
        parser = self._parser
        headers = tuple(self._headers)
        head = Head(
            parser.get_method().decode(), self._target, parser.get_http_version(), headers, parser.should_upgrade()
        )
        if head.upgrade and head.value(b"upgrade").lower() == "h2c":
            self._plain = replace(head.without((b"upgrade", b"http2-settings", b"connection")), upgrade=False)
        else:
            self._give(head)

    def on_body(self, piece: bytes) -> None:
        self._give(piece)

    def on_message_complete(self) -> None:
        if self._plain is None:
            self._give(End())

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > LONGEST_HEAD:
            raise TooLong


def chunk(piece: bytes) -> bytes:
    """A piece of a body as chunked coding frames it."""
    return b"%x\r\n%s\r\n" % (len(piece), piece)


LAST_CHUNK = b"0\r\n\r\n"


def answer(status: int, reason: str, body: bytes, kind: str = "application/json", *, close: bool = True) -> bytes:
    """A whole response of our own."""
    lines = [f"HTTP/1.1 {status} {reason}", f"Content-Length: {len(body)}", f"Content-Type: {kind}"]
    lines.append("Connection: close" if close else "Connection: keep-alive")
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
