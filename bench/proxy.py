"""The proxy against a direct connection: what it adds to the first byte, and what 50 streams at once lose by it.

A server of our own in one process, `mem proxy` in another, the clients in this one. The request is one of a coding
assistant's size; it is read, gets a brief and is recorded like any other.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.hook import fill
from bench.measure import Bar
from catmem.inject.worker import wait_for_worker
from catmem.settings.places import Places
from catmem.wiring import Catmem

PROJECT = "bench-0a1b2c3d"
# What Claude Code sends with 25 tools, in bytes; and how many memories there are to make a brief of.
REQUEST_BYTES = 80_000
MEMORIES = 2_000
ROUNDS = 200
STREAMS = 50
# Events of one answer, and how many a second today's fastest models send to one client.
EVENTS, EVENTS_A_SECOND = 300, 100
# An answer that the server sends as fast as it can be read. Three processes share two cores then, so that this is
# a report with a low floor; what people have are paced streams.
FLOOD_EVENTS, FLOOD_FLOOR = 4_000, 0.2


def measure() -> list[Bar]:
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        _upstream() as upstream,
        _proxy(Path(folder), upstream) as proxy,
    ):
        # Once without counting: the first request of all imports and opens things, that of a session makes its brief.
        asyncio.run(_first_byte(upstream, proxy, 5))
        asyncio.run(_streams(proxy, 1, 0))
        added = asyncio.run(_first_byte(upstream, proxy, ROUNDS))
        paced = _throughput(upstream, proxy, EVENTS, EVENTS_A_SECOND)
        flood = _throughput(upstream, proxy, FLOOD_EVENTS, 0)
    streams = f"proxy / direct, events a second in {STREAMS} streams"
    return [
        Bar("proxy: added to the first byte of an answer, p50", added, 5, unit="ms"),
        Bar(f"{streams} of {EVENTS_A_SECOND} a second each", paced[1] / paced[0], 0.8, most=False),
        Bar(
            f"{streams} as fast as they go ({paced[0]:,.0f}, {flood[0]:,.0f} direct)",
            flood[1] / flood[0],
            FLOOD_FLOOR,
            most=False,
        ),
    ]


async def _first_byte(upstream: int, proxy: int, rounds: int) -> float:
    """Milliseconds that the proxy adds in the middle, asked in turn on connections that are kept."""
    ways = [await asyncio.open_connection("127.0.0.1", port) for port in (upstream, proxy)]
    waited: list[list[float]] = [[], []]
    for number in range(rounds):
        for place, (reader, writer) in enumerate(ways):
            request = _request("session", 3, 0, number)
            started = time.perf_counter()
            writer.write(request)
            await reader.readuntil(b"\r\n\r\n")
            first = await reader.readuntil(b"\n\n")
            waited[place].append(time.perf_counter() - started)
            assert first
            await reader.readuntil(b"\r\n0\r\n\r\n")
    for _, writer in ways:
        writer.close()
    return (statistics.median(waited[1]) - statistics.median(waited[0])) * 1000


def _throughput(upstream: int, proxy: int, events: int, pace: int) -> tuple[float, float]:
    """Events a second, directly and through the proxy: medians of three runs in turn."""
    runs = [[asyncio.run(_streams(port, events, pace)) for port in (upstream, proxy)] for _ in range(3)]
    return statistics.median(run[0] for run in runs), statistics.median(run[1] for run in runs)


async def _streams(port: int, events: int, pace: int) -> float:
    started = time.perf_counter()
    await asyncio.gather(*(_stream(port, f"stream-{number}", events, pace) for number in range(STREAMS)))
    return STREAMS * events / (time.perf_counter() - started)


async def _stream(port: int, name: str, events: int, pace: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(_request(name, events, pace))
    rest = b""
    while not rest.endswith(b"\r\n0\r\n\r\n"):
        piece = await reader.read(1 << 18)
        assert piece, "the stream was cut off"
        rest = (rest + piece)[-7:]
    writer.close()


def _request(name: str, events: int, pace: int, number: int = 0) -> bytes:
    tools = [{"name": "read", "description": "x" * REQUEST_BYTES, "input_schema": {"type": "object"}}]
    messages = [{"role": "user", "content": [{"type": "text", "text": f"why does the cache time out? {number}"}]}]
    asked = {"model": "claude-9", "stream": True, "system": [{"type": "text", "text": "You help."}], "tools": tools}
    body = json.dumps({**asked, "messages": messages, "max_tokens": 9}).encode()
    told = f"X-Claude-Code-Session-Id: {name}\r\nX-Events: {events}\r\nX-Pace: {pace}"
    head = f"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n{told}\r\n\r\n"
    return head.encode() + body


@contextlib.contextmanager
def _proxy(folder: Path, upstream: int) -> Iterator[int]:
    fill(Catmem(folder), PROJECT, MEMORIES)
    program = str(Path(sys.executable).with_name("mem"))
    command = [program, "proxy", "--dir", str(folder), "--json", "--project", PROJECT]
    with _running([*command, "--upstream", f"anthropic=http://127.0.0.1:{upstream}"]) as said:
        yield int(json.loads(said)["port"])
    # What was said is distilled when the proxy has ended; its folder can go when that is done.
    time.sleep(1)
    wait_for_worker(Places(str(folder)), 60)


@contextlib.contextmanager
def _upstream() -> Iterator[int]:
    with _running([sys.executable, "-m", "bench.proxy"]) as said:
        yield int(said)


@contextlib.contextmanager
def _running(command: list[str]) -> Iterator[str]:
    """A process, and the first line that it says."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=dict(os.environ))
    assert process.stdout is not None
    try:
        yield process.stdout.readline().decode()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


# The server


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            told = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
            await reader.readexactly(int(told[b"content-length"]))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            await _answer(writer, int(told[b"x-events"]), int(told[b"x-pace"]))


async def _answer(writer: asyncio.StreamWriter, events: int, pace: int) -> None:
    data = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "some words "}}
    event = _framed(data)
    start = time.perf_counter()
    for number in range(events):
        writer.write(event)
        await writer.drain()
        if pace:
            await asyncio.sleep(max(0.0, start + (number + 1) / pace - time.perf_counter()))
        elif number % 50 == 0:
            await asyncio.sleep(0)
    writer.write(_framed({"type": "message_stop"}) + b"0\r\n\r\n")
    await writer.drain()


def _framed(data: dict[str, object]) -> bytes:
    event = f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


async def _listen() -> None:
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, limit=1 << 24, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_listen())
