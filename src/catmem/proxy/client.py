"""One connection of an assistant: its requests go out one after the other, each answer comes back as it arrives."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol

import httptools

from catmem.domain.session import SessionRef
from catmem.proxy.connecting import Unreachable, connect
from catmem.proxy.http1 import LAST_CHUNK, End, Head, Part, RequestReader, Rest, TooLong, answer, chunk
from catmem.proxy.inbox import Inbox
from catmem.proxy.routes import Refused, Route
from catmem.proxy.upstream import Listener, UpstreamSide

# A body up to this is read whole, so that it can be understood. A prompt of a million tokens has 5 MB; what is more
# goes through as it comes.
LONGEST_READ = 64 << 20
# A head that is not complete after this long never will be.
_HEAD_SECONDS = 60.0


class Reading(Protocol):
    """What is done with a request that can be understood."""

    @property
    def body(self) -> bytes: ...

    @property
    def listener(self) -> Listener | None: ...

    @property
    def session(self) -> SessionRef | None: ...


class House(Protocol):
    """What a connection asks of the proxy that it belongs to."""

    environment: Mapping[str, str]

    def route(self, head: Head) -> Route: ...

    def read(self, route: Route, head: Head, body: bytes) -> Awaitable[Reading]: ...

    def fault(self, error: Exception) -> None: ...

    def joined(self, side: ClientSide) -> None: ...

    def spoke(self, side: ClientSide, session: SessionRef) -> None: ...

    def left(self, side: ClientSide) -> None: ...


class ClientSide(asyncio.Protocol):
    """A task takes requests from the inbox and answers them; when the client leaves, all that is ended with it."""

    def __init__(self, house: House) -> None:
        self.transport: asyncio.Transport | None = None
        self.sessions: set[SessionRef] = set()
        self._house = house
        self._reader = RequestReader(self._give)
        self._inbox = Inbox(self._pause)
        self._upstream: UpstreamSide | None = None
        self._task: asyncio.Task[None] | None = None
        self._can_send = asyncio.Event()
        self._can_send.set()
        self._late: asyncio.TimerHandle | None = None
        self._answering = False

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._house.joined(self)
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._serve())
        self._late = loop.call_later(_HEAD_SECONDS, self._too_late)

    def data_received(self, data: bytes) -> None:
        try:
            if self._reader.is_other:
                self._give(Rest(data))
            else:
                self._reader.feed(data)
        except TooLong:
            self._refuse(Refused(431, "Request Header Fields Too Large", "the headers of this request are too long"))
        except httptools.HttpParserError:
            self._refuse(Refused(400, "Bad Request", "this is no HTTP request that can be passed on"))

    def eof_received(self) -> bool:
        """An assistant that closes its end has left: the answer has no reader."""
        return False

    def connection_lost(self, error: Exception | None) -> None:
        self._can_send.set()
        if self._late is not None:
            self._late.cancel()
        if self._task is not None:
            self._task.cancel()
        if self._upstream is not None:
            self._upstream.close()
        self._house.left(self)

    def pause_writing(self) -> None:
        if self._upstream is not None:
            self._upstream.hold(True)

    def resume_writing(self) -> None:
        if self._upstream is not None:
            self._upstream.hold(False)

    # What the upstream's side calls.

    def pass_on(self, data: bytes) -> None:
        if self.transport is not None:
            self.transport.write(data)

    def upstream_lost(self) -> None:
        """The server has closed: what it sent goes out, then this connection ends like it."""
        self.close()

    def hold_request(self, held: bool) -> None:
        if held:
            self._can_send.clear()
        else:
            self._can_send.set()

    def fault(self, error: Exception) -> None:
        self._house.fault(error)

    def close(self) -> None:
        if self.transport is not None:
            self.transport.close()

    def abort(self) -> None:
        if self.transport is not None:
            self.transport.abort()

    # Requests, one by one.

    async def _serve(self) -> None:
        try:
            while True:
                part = await self._inbox.get()
                if isinstance(part, Head):
                    self._answering = True
                    if not await self._exchange(part):
                        break
                    self._answering = False
        except Unreachable as away:
            self._refuse(Refused(502, "Bad Gateway", f"the upstream cannot be reached: {away}"))
        except OSError as error:
            self.fault(error)
        except Exception as error:
            self.fault(error)
            self._refuse(Refused(500, "Internal Server Error", "a fault of the proxy; please report it"))
        finally:
            self.close()

    async def _exchange(self, head: Head) -> bool:
        """Answers one request; true if another may follow on this connection."""
        try:
            route = self._house.route(head)
        except Refused as refused:
            self.pass_on(refused.response(head))
            return not refused.closes and not head.has_body
        outgoing = route.outgoing(head)
        if head.upgrade:
            return await self._tunnel(outgoing, route)
        pieces: list[bytes] = []
        listener: Listener | None = None
        whole = False
        if route.wire and head.length <= LONGEST_READ:
            outgoing = self._encourage(outgoing)
            whole = await self._collect(pieces)
        if whole:
            body = b"".join(pieces)
            reading = await self._house.read(route, head, body)
            listener = reading.listener
            if reading.session is not None:
                self._house.spoke(self, reading.session)
            if reading.body is not body:
                outgoing, pieces = outgoing.with_length(len(reading.body)), [reading.body]
        try:
            upstream = await self._reach(route)
            done = upstream.expect(head.method, listener)
        except BaseException:
            if listener is not None:
                listener.end(False)
            raise
        await self._send(upstream, outgoing, pieces, whole)
        return await done

    async def _collect(self, pieces: list[bytes]) -> bool:
        """Takes the body of a request; false if it is longer than what is read, and the rest still to come."""
        size = 0
        while not isinstance(part := await self._inbox.get(), End):
            assert isinstance(part, bytes)
            pieces.append(part)
            size += len(part)
            if size > LONGEST_READ:
                return False
        return True

    def _encourage(self, head: Head) -> Head:
        """A client that waits to be told that its body is welcome is told so by us, who read it first."""
        if head.value(b"expect").lower() != "100-continue":
            return head
        if head.has_body and self._inbox.is_empty:
            self.pass_on(b"HTTP/1.1 100 Continue\r\n\r\n")
        return head.without((b"expect",))

    async def _reach(self, route: Route) -> UpstreamSide:
        held = self._upstream
        if held is not None and held.is_open and held.origin == route.origin:
            return held
        if held is not None:
            self._upstream = None
            held.drop()
        self._can_send.set()
        self._upstream = await connect(route.origin, self, self._house.environment)
        return self._upstream

    async def _send(self, upstream: UpstreamSide, head: Head, pieces: list[bytes], whole: bool) -> None:
        frame: Callable[[bytes], bytes] = chunk if head.is_chunked else bytes
        first = b"".join(frame(piece) for piece in pieces) if len(pieces) < 8 else frame(b"".join(pieces))
        last = LAST_CHUNK if head.is_chunked else b""
        if whole:
            upstream.write(bytes(head) + first + last)
            await self._can_send.wait()
            return
        upstream.write(bytes(head) + first)
        while upstream.is_open and not isinstance(part := await self._inbox.get(), End):
            assert isinstance(part, bytes)
            upstream.write(frame(part))
            await self._can_send.wait()
        upstream.write(last)

    async def _tunnel(self, head: Head, route: Route) -> bool:
        """Another protocol, if the server agrees to it: bytes both ways, until one of the two leaves."""
        upstream = await self._reach(route)
        done = upstream.expect(head.method, None)
        upstream.write(bytes(head))
        while upstream.is_open:
            coming = asyncio.ensure_future(self._inbox.get())
            await asyncio.wait((coming, done), return_when=asyncio.FIRST_COMPLETED)
            if done.done():
                # The server has declined, or left. What would come now is no HTTP that we have followed.
                coming.cancel()
                break
            part = coming.result()
            if isinstance(part, Rest) and part.data:
                upstream.write(part.data)
                await self._can_send.wait()
        await done
        return False

    # Plumbing

    def _give(self, part: Part) -> None:
        if isinstance(part, Head) and self._late is not None:
            self._late.cancel()
            self._late = None
        self._inbox.put(part)

    def _pause(self, paused: bool) -> None:
        if self.transport is None or self.transport.is_closing():
            return
        if paused:
            self.transport.pause_reading()
        else:
            self.transport.resume_reading()

    def _too_late(self) -> None:
        self._refuse(Refused(408, "Request Timeout", "no request came"))

    def _refuse(self, refused: Refused) -> None:
        """Says why and closes, unless a server's answer is under way: then only the closing can be understood."""
        under_way = self._answering and self._upstream is not None and self._upstream.answered
        if not under_way:
            self.pass_on(answer(refused.status, refused.reason, refused.body))
        self.close()
