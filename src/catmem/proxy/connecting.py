"""Reaching an upstream: TLS as the user trusts it, and the proxy of a network where there is one."""

from __future__ import annotations

import asyncio
import functools
import os
import ssl
import urllib.request
from collections.abc import Mapping
from urllib.parse import urlsplit

from catmem.proxy.upstream import Origin, Receiver, UpstreamSide

# A server that does not take a connection in this time is away; the systems' own limit is minutes.
CONNECT_SECONDS = 30.0
_AUTHORITIES = ("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CODEX_CA_CERTIFICATE")


class Unreachable(Exception):
    """No connection to an upstream; its text says why, without any address of the user's."""


async def connect(origin: Origin, receiver: Receiver, environment: Mapping[str, str]) -> UpstreamSide:
    """A connection to an upstream, through the proxy that the environment names. Raises Unreachable."""
    side = UpstreamSide(receiver, origin)
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            await _connected(side, origin, environment)
    except TimeoutError:
        raise Unreachable("it does not answer") from None
    except ssl.SSLError as error:
        raise Unreachable(f"its certificate or its TLS was refused ({error.reason or 'TLS'})") from None
    except OSError as error:
        raise Unreachable(error.strerror or "no connection") from None
    return side


async def _connected(side: UpstreamSide, origin: Origin, environment: Mapping[str, str]) -> None:
    loop = asyncio.get_running_loop()
    tls = _tls(tuple(environment.get(name, "") for name in _AUTHORITIES)) if origin.secure else None
    via = _outer_proxy(origin)
    if via is None:
        await loop.create_connection(lambda: side, origin.host, origin.port, ssl=tls)
        return
    transport, asking = await loop.create_connection(_Asking, *via)
    await asking.to_connect(origin)
    transport.set_protocol(side)
    if tls is None:
        side.connection_made(transport)
        return
    secured = await loop.start_tls(transport, side, tls, server_hostname=origin.host)
    assert secured is not None
    side.connection_made(secured)


class _Asking(asyncio.Protocol):
    """Asks the proxy of a network for a connection; what comes behind its answer is the server's."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._said = b""
        self._answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def to_connect(self, origin: Origin) -> None:
        """Raises Unreachable."""
        assert self._transport is not None
        where = b"%s:%d" % (origin.host.encode("idna"), origin.port)
        self._transport.write(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n" % (where, where))
        if not await self._answered:
            self._transport.abort()
            raise Unreachable("the proxy of this network refused the connection")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._said += data
        if b"\r\n\r\n" in self._said and not self._answered.done():
            self._answered.set_result(b" 200 " in self._said.split(b"\r\n", 1)[0])

    def connection_lost(self, error: Exception | None) -> None:
        if not self._answered.done():
            self._answered.set_result(False)


def _outer_proxy(origin: Origin) -> tuple[str, int] | None:
    """The proxy of the network, as `HTTPS_PROXY` and `NO_PROXY` say; plain HTTP to an upstream goes without."""
    if not origin.secure or urllib.request.proxy_bypass(f"{origin.host}:{origin.port}"):
        return None
    address = urllib.request.getproxies().get("https", "")
    parts = urlsplit(address if "://" in address else f"http://{address}")
    return (parts.hostname, parts.port or 8080) if address and parts.hostname else None


@functools.cache
def _tls(authorities: tuple[str, ...]) -> ssl.SSLContext:
    """Trusts what the system trusts, and the files that the user told the assistant's own runtime to trust."""
    try:
        import truststore

        context: ssl.SSLContext = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    except ImportError:
        context = ssl.create_default_context()
    for path in authorities:
        if path and os.path.isfile(path):
            context.load_verify_locations(cafile=path)
    context.set_alpn_protocols(["http/1.1"])
    return context
