"""The proxy as a whole: listens, lets each connection work, and ends without leaving anything behind."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from catmem.domain.errors import StorageFailed
from catmem.domain.session import SessionRef
from catmem.proxy.client import ClientSide
from catmem.proxy.http1 import Head
from catmem.proxy.reading import Reader, Understood
from catmem.proxy.routes import Route, Routes

# Understanding a request takes milliseconds. A disk that hangs must not hold up the assistant: it goes out untouched.
_READING_SECONDS = 4.0
_READERS = 8
# How long a proxy that ends waits for connections to be closed.
_FAREWELL_SECONDS = 1.0
# Seconds that a thread that computes (a brief, a long answer) keeps the interpreter from the one that passes bytes on,
# each time that one has waited for the system. The default, 5 ms, is felt in every stream.
_SWITCH_SECONDS = 0.0005


class Keeper(Protocol):
    """Who is told that the programs of some sessions have left."""

    def ended(self, refs: frozenset[SessionRef]) -> None: ...


class Proxy:
    """Everything here runs in one event loop, but for the understanding of requests (Reader)."""

    def __init__(
        self,
        routes: Routes,
        reader: Reader,
        keeper: Keeper,
        *,
        environment: Mapping[str, str],
        fault: Callable[[Exception], None],
    ) -> None:
        self.environment = environment
        self.port = 0
        self._routes = routes
        self._reader = reader
        self._keeper = keeper
        self._fault = fault
        self._sides: set[ClientSide] = set()
        self._present: Counter[SessionRef] = Counter()
        self._server: asyncio.Server | None = None
        self._pool = ThreadPoolExecutor(_READERS, thread_name_prefix="catmem-reader")

    async def start(self, host: str, port: int) -> None:
        """Listens; `port` 0 is a free one. Raises StorageFailed if the address cannot be had."""
        loop = asyncio.get_running_loop()
        sys.setswitchinterval(_SWITCH_SECONDS)
        try:
            self._server = await loop.create_server(lambda: ClientSide(self), host, port, backlog=512)
        except OSError as error:
            raise StorageFailed(
                f"cannot listen on {host}:{port} ({error.strerror}); name another --port, or 0 for a free one",
                f"无法监听 {host}:{port}（{error.strerror}）；请用 --port 换一个端口，0 表示自动选择空闲端口",
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Ends every connection; an answer under way is cut off, as it is when a server ends."""
        if self._server is not None:
            self._server.close()
        for side in list(self._sides):
            side.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_FAREWELL_SECONDS):
                while self._sides:
                    await asyncio.sleep(0.01)
        for side in list(self._sides):
            side.abort()
        self._pool.shutdown(wait=False, cancel_futures=True)

    # What connections ask.

    def route(self, head: Head) -> Route:
        return self._routes.of(head)

    async def read(self, route: Route, head: Head, body: bytes) -> Understood:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_READING_SECONDS):
                return await loop.run_in_executor(self._pool, self._reader.read, route, head, body)
        except (ValueError, RecursionError):
            # No request of the kind that its path says. The server will say so.
            return Understood(body)
        except Exception as error:
            self.fault(error)
            return Understood(body)

    def fault(self, error: Exception) -> None:
        with contextlib.suppress(Exception):
            self._fault(error)

    def joined(self, side: ClientSide) -> None:
        self._sides.add(side)

    def spoke(self, side: ClientSide, session: SessionRef) -> None:
        """A connection has spoken in a session."""
        if session not in side.sessions:
            side.sessions.add(session)
            self._present[session] += 1

    def left(self, side: ClientSide) -> None:
        self._sides.discard(side)
        self._present.subtract(side.sessions)
        alone = frozenset(session for session in side.sessions if self._present[session] <= 0)
        for session in alone:
            del self._present[session]
        if alone:
            self._keeper.ended(alone)


class ProxyThread:
    """A proxy in a thread of its own, for a program that does something else meanwhile."""

    def __init__(self, proxy: Proxy, host: str = "127.0.0.1", port: int = 0) -> None:
        self._proxy = proxy
        self._address = host, port
        self._begun = threading.Event()
        self._failure: Exception | None = None
        self.loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, name="catmem-proxy", daemon=True)

    def start(self) -> None:
        """Returns when it listens. Raises what `Proxy.start` raises."""
        self._thread.start()
        self._begun.wait()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Returns when nothing of it is left."""
        if self.loop is not None and self._over is not None:
            self.loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def __enter__(self) -> Proxy:
        self.start()
        return self._proxy

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self.loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        try:
            await self._proxy.start(*self._address)
        except Exception as error:
            self._failure = error
            return
        finally:
            self._begun.set()
        await self._over.wait()
        await self._proxy.stop()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address that is listened on."""
    try:
        found = socket.getaddrinfo(host or "0.0.0.0", None)
    except OSError:
        return False
    return all(str(address[4][0]).startswith(("127.", "::1")) for address in found)
