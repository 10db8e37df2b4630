"""With us or without us: the server gets the same bytes, the client gets the same bytes. A thousand times an API."""

from __future__ import annotations

import gzip
import random
import re
import socket
import zlib
from pathlib import Path

import brotli
import pytest
import zstandard

from tests.proxy.talks import PATHS, Talk, answer_events, answer_whole, spelled, talk, words
from tests.proxy.upstream import Script, Sent, Upstream, streamed, whole
from tests.proxy.world import Client, World, serving

TIMES = 400
CODERS = {
    "gzip": lambda data: gzip.compress(data, 1, mtime=0),
    "deflate": lambda data: zlib.compress(data),
    "br": lambda data: brotli.compress(data, quality=1),
    "zstd": lambda data: zstandard.ZstdCompressor().compress(data),
}
REFUSALS = ("400 Bad Request", "401 Unauthorized", "429 Too Many Requests", "500 Internal Server Error", "529 ")


def request(wire: str, made: Talk, dice: random.Random, number: int) -> tuple[bytes, bytes, bytes]:
    """(the first line, the other lines of the head, the body as framed); names and order of headers as they fall."""
    body = spelled(made.body, dice).encode()
    headers = [
        (dice.choice(("Content-Type", "content-type", "CONTENT-TYPE")), "application/json"),
        ("Accept-Encoding", dice.choice(("gzip, deflate, br, zstd", "identity", "zstd,gzip"))),
        (dice.choice(("X-API-Key", "authorization")), f"Bearer sk-{dice.getrandbits(90):x}"),
        ("User-Agent", "teapot/1.0 (a tool; nobody knows it)"),
        ("x-Strange", words(dice, 3).encode("ascii", "ignore").decode().strip() or "-"),
    ]
    if dice.random() < 0.5:
        headers.append(("X-Claude-Code-Session-Id", f"session-{number % 5}"))
    if dice.random() < 0.1:
        coding = dice.choice(list(CODERS))
        body = CODERS[coding](body)
        headers.append(("Content-Encoding", coding))
    if dice.random() < 0.2:
        headers.append(("Transfer-Encoding", "chunked"))
        framed, rest = b"", body
        while rest:
            size = dice.randint(1, max(1, len(body)))
            framed, rest = framed + b"%x\r\n%s\r\n" % (len(rest[:size]), rest[:size]), rest[size:]
        body = framed + b"0\r\n\r\n"
    else:
        headers.append(("Content-Length", str(len(body))))
    dice.shuffle(headers)
    lines = "".join(f"{name}: {value}\r\n" for name, value in [("Host", "localhost"), *headers]) + "\r\n"
    return f"POST {PATHS[wire]} HTTP/1.1\r\n".encode(), lines.encode(), body


def response(wire: str, made: Talk, dice: random.Random) -> Script:
    """A stream that is cut anywhere, a whole answer, or a refusal; coded or not."""
    extra = [f"x-Request-ID: {dice.getrandbits(60):x}", "Set-Cookie: a=1", "set-cookie: b=2"]
    if dice.random() < 0.15:
        return whole(words(dice).encode(), dice.choice(REFUSALS), "retry-after: 1", *extra)
    text = words(dice, 30)
    body = b"".join(answer_events(wire, text, dice)) if made.stream else answer_whole(wire, text)
    if dice.random() < 0.4:
        coding = dice.choice(list(CODERS))
        body = CODERS[coding](body)
        extra.append(f"Content-Encoding: {coding}")
    if not made.stream:
        return whole(body, "200 OK", *extra)
    cuts = sorted(dice.randint(0, len(body)) for _ in range(dice.randint(0, 12)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    return streamed(pieces, *extra)


def without_host(sent: Sent) -> list[bytes]:
    return [header for header in sent.headers if not header.lower().startswith(b"host:")]


class Pair:
    """The same request, asked directly and through the proxy."""

    def __init__(self, upstream: Upstream, world: World) -> None:
        self.upstream = upstream
        self.direct = Client(socket.create_connection(("127.0.0.1", upstream.port)))
        self.proxied = world.connect()

    def ask(self, line: bytes, rest: bytes, body: bytes, script: Script) -> tuple[bytes, bytes, Sent, Sent]:
        self.upstream.scripts = [script]
        directly = self.direct.raw(line + rest + body)
        through = self.proxied.raw(line.replace(b"POST /", b"POST /p/shelf/", 1) + rest + body)
        return directly, through, self.upstream.sent[-2], self.upstream.sent[-1]


@pytest.mark.slow
@pytest.mark.parametrize("wire", PATHS)
def test_without_injection_no_byte_changes(tmp_path: Path, wire: str) -> None:
    dice = random.Random(f"off {wire}")
    with Upstream([whole(b"")]) as upstream, serving(tmp_path, upstream.url, inject=False) as world:
        pair = Pair(upstream, world)
        for number in range(TIMES):
            made = talk(wire, dice)
            script = response(wire, made, dice)
            directly, through, alone, ours = pair.ask(*request(wire, made, dice, number), script)
            assert through == directly
            assert ours.line == alone.line
            assert without_host(ours) == without_host(alone)
            assert ours.body == alone.body
        world.settled()
        assert world.faults == []
        assert len(world.keys) > TIMES / 10, "they were understood, too"


@pytest.mark.slow
@pytest.mark.parametrize("wire", PATHS)
def test_with_injection_only_the_brief_is_added(tmp_path: Path, wire: str) -> None:
    dice = random.Random(f"on {wire}")
    with Upstream([whole(b"")]) as upstream, serving(tmp_path, upstream.url) as world:
        world.knows(project="shelf")
        pair = Pair(upstream, world)
        added = 0
        for number in range(TIMES):
            made = talk(wire, dice)
            script = response(wire, made, dice)
            line, rest, body = request(wire, made, dice, number)
            directly, through, alone, ours = pair.ask(line, rest, body, script)
            assert through == directly
            assert ours.line == alone.line
            lengths = (b"content-length:", b"transfer-encoding:")
            same = [row for row in without_host(ours) if not row.lower().startswith(lengths)]
            assert same == [row for row in without_host(alone) if not row.lower().startswith(lengths)]
            coding = next((row.split(b": ")[1] for row in ours.headers if row.startswith(b"Content-Encoding")), b"")
            before, after = plain(alone.body, coding), plain(ours.body, coding)
            assert is_only_added(before, after), (before, after)
            added += 1
        assert world.faults == []
        assert added == TIMES


def plain(body: bytes, coding: bytes) -> str:
    if coding == b"gzip":
        body = gzip.decompress(body)
    elif coding == b"deflate":
        body = zlib.decompress(body)
    elif coding == b"br":
        body = brotli.decompress(body)
    elif coding == b"zstd":
        body = zstandard.ZstdDecompressor().decompress(body)
    return body.decode()


_BRIEF = r"<catmem-memory>(?:(?!catmem-memory).)*</catmem-memory>"
_BLOCK = r'\{"type":"text","text":"' + _BRIEF + r'"\}'
# A value that had to become another one to hold the brief, and what it was: a text of `system` becomes two elements,
# an empty one or null becomes one, and so do empty instructions.
_REPLACED = (
    (r'\[\{"type":"text","text":("(?:[^"\\]|\\.)+")\},' + _BLOCK + r"\]", (r"\1",)),
    (r"\[" + _BLOCK + r"\]", ('""', "null")),
    ('"' + _BRIEF + '"', ('""', "null")),
)


def is_only_added(before: str, after: str) -> bool:
    """True if one piece with one brief was put in, and every other character stands as it stood."""
    assert after.count("<catmem-memory>") == 1, "there is one brief"
    head = next((n for n, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    tail = next((n for n, (a, b) in enumerate(zip(before[::-1], after[::-1], strict=False)) if a != b), len(before))
    if head + tail >= len(before):
        # What is the same on both sides of the piece may count to either.
        return re.search(_BRIEF, after[len(before) - tail : len(after) - len(before) + head], re.DOTALL) is not None
    return any(
        re.sub(pattern, was, after, count=1, flags=re.DOTALL) == before
        for pattern, former in _REPLACED
        for was in former
    )
