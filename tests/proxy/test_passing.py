"""What a client and a server live through together, they live through with the proxy between them."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proxy.talks import PATHS, answer_whole
from tests.proxy.upstream import Script, Upstream, streamed, whole
from tests.proxy.world import Client, World, serving

ANSWER = answer_whole("anthropic", "it is on the third shelf")
ASKED = {"model": "claude-9", "max_tokens": 9, "messages": [{"role": "user", "content": "where is the teapot?"}]}


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    with Upstream([whole(ANSWER)]) as server:
        yield server


@pytest.fixture
def world(tmp_path: Path, upstream: Upstream) -> Iterator[World]:
    with serving(tmp_path, upstream.url) as made:
        yield made


def waited(condition: object, seconds: float = 20.0) -> bool:
    """Whether something becomes true in time; the bound only turns a hang into a failure."""
    assert callable(condition)
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def post(path: str, body: bytes, *headers: str, version: str = "1.1") -> bytes:
    lines = [f"POST {path} HTTP/{version}", "Host: localhost", f"Content-Length: {len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


# Streams


def test_a_stream_arrives_piece_by_piece_as_it_is_sent(world: World, upstream: Upstream) -> None:
    gates = [threading.Event() for _ in range(3)]

    def pieces() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n"
        for number, gate in enumerate(gates):
            gate.wait(20)
            yield b"9\r\ndata: %d\n\n\r\n" % number
        yield b"0\r\n\r\n"

    upstream.scripts = [Script(pieces())]  # type: ignore[arg-type]
    with world.connect() as client:
        client.socket.sendall(post(PATHS["anthropic"], json.dumps(ASKED).encode()))
        seen = b""
        for number, gate in enumerate(gates):
            assert b"data: %d" % number not in seen
            gate.set()
            while b"data: %d\n\n" % number not in seen:
                seen += client.socket.recv(4096)


def test_a_slow_client_holds_up_the_server_and_not_our_memory(world: World, upstream: Upstream) -> None:
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        yield b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (1 << 28)
        for _ in range(1 << 8):
            yield b"x" * (1 << 20)
            sent += 1

    upstream.scripts = [Script(pieces())]  # type: ignore[arg-type]
    with world.connect() as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        client.socket.sendall(b"GET /v1/files/1/content HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert client.socket.recv(1) == b"H"
        before = -1
        while sent != before:
            before = sent
            time.sleep(0.5)
        assert sent < 64, "buffers of the system and ours are full, and then it waits"


def test_a_client_that_leaves_ends_the_answer_at_the_server(world: World, upstream: Upstream) -> None:
    endless = [b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n", *[b"data: x\n\n"] * 5000]
    upstream.scripts = [Script(endless, pause=0.005)]
    with world.connect() as client:
        client.socket.sendall(post(PATHS["anthropic"], json.dumps(ASKED).encode()))
        client.socket.recv(100)
    assert waited(lambda: upstream.gone == 1)
    world.settled()
    assert world.keys == []


def test_a_client_that_leaves_while_it_uploads_is_no_request(world: World, upstream: Upstream) -> None:
    with world.connect() as client:
        client.socket.sendall(post(PATHS["anthropic"], b"")[:-4].replace(b"Length: 0", b"Length: 500") + b"\r\n\r\n{")
    with world.connect() as client:
        assert client.ask("/v1/messages", ASKED)[0] == 200
    assert len(upstream.sent) == 1


@pytest.mark.parametrize("resets", [False, True])
def test_a_server_that_dies_in_its_answer_is_seen_to_die(world: World, upstream: Upstream, resets: bool) -> None:
    cut = streamed([b"event: message_start\ndata: {}\n\n", b"data: more"]).pieces[:-1]
    upstream.scripts = [Script(cut, closes=not resets, resets=resets)]
    with world.connect() as client:
        seen = client.raw(post(PATHS["anthropic"], json.dumps(ASKED).encode()))
        assert seen == b"".join(cut) or (resets and b"".join(cut).startswith(seen))
        assert client.socket.recv(1) == b"", "the connection is over as it is without us"
    world.settled()
    assert world.keys == []


def test_a_server_that_closes_without_an_answer_is_passed_on(world: World, upstream: Upstream) -> None:
    upstream.scripts = [Script([], closes=True)]
    with world.connect() as client:
        assert client.raw(post(PATHS["anthropic"], json.dumps(ASKED).encode())) == b""


def test_an_answer_that_only_the_end_of_the_connection_ends(world: World, upstream: Upstream) -> None:
    upstream.scripts = [Script([b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", ANSWER], closes=True)]
    with world.connect() as client:
        client.socket.sendall(post(PATHS["anthropic"], json.dumps(ASKED).encode()))
        seen = b""
        while more := client.socket.recv(4096):
            seen += more
    assert seen.endswith(ANSWER)
    world.settled()
    assert world.said()[-1] == ("assistant", "it is on the third shelf")


def test_a_server_that_is_away_is_said_to_be_away(tmp_path: Path) -> None:
    free = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{free.getsockname()[1]}"
    free.close()
    with serving(tmp_path, address) as world:
        status, body = world.ask("/v1/messages", ASKED)
        assert status == 502
        assert "cannot be reached" in json.loads(body)["error"]["message"]


def test_an_early_answer_passes_while_the_upload_goes_on(world: World, upstream: Upstream) -> None:
    """A path that is not read: the server may refuse a long upload before its end."""
    done = threading.Event()
    upstream.scripts = [whole(b"{}", "413 Content Too Large")]
    body = b"x" * (8 << 20)
    with world.connect() as client:
        sender = threading.Thread(target=lambda: (client.socket.sendall(post("/v1/files", body)), done.set()))
        sender.start()
        assert client.answer().startswith(b"HTTP/1.1 413")
        sender.join(20)
    assert done.is_set()


# Bodies


def test_fifty_megabytes_go_through_and_are_understood(world: World, upstream: Upstream) -> None:
    picture = "A" * (50 << 20)
    content = [
        {"type": "image", "source": {"type": "base64", "data": picture}},
        {"type": "text", "text": "what is it?"},
    ]
    asked = {**ASKED, "messages": [{"role": "user", "content": content}]}
    assert world.ask("/v1/messages", asked)[0] == 200
    assert json.loads(upstream.sent[-1].body) == asked
    world.settled()
    assert world.said()[0] == ("user", "what is it?")


def test_what_is_longer_than_we_read_goes_through_unread(
    world: World, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catmem.proxy.client.LONGEST_READ", 1000)
    asked = {**ASKED, "padding": "x" * 5000}
    data = json.dumps(asked).encode()
    chunked = b"".join(b"%x\r\n%s\r\n" % (len(data[n : n + 700]), data[n : n + 700]) for n in range(0, len(data), 700))
    with world.connect() as client:
        assert client.ask("/v1/messages", asked)[0] == 200
        head = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
        assert client.raw(head + chunked + b"0\r\n\r\n").endswith(ANSWER)
    assert [sent.body for sent in upstream.sent] == [data, data]
    world.settled()
    assert world.keys == []


@pytest.mark.parametrize(
    "body", [b"{", b"", b"[]", b"null", b"\xff\xfe", b'{"messages": 7}', b'{"messages":[' * 5000, b'"x"']
)
@pytest.mark.parametrize("wire", PATHS)
def test_what_is_no_request_goes_through_as_it_is(world: World, upstream: Upstream, wire: str, body: bytes) -> None:
    upstream.scripts = [whole(b'{"error":"what?"}', "400 Bad Request")]
    assert world.ask(PATHS[wire], body) == (400, b'{"error":"what?"}')
    assert upstream.sent[-1].body == body
    assert world.faults == []


def test_a_client_that_waits_to_be_told_to_go_on_is_told(world: World, upstream: Upstream) -> None:
    body = json.dumps(ASKED).encode()
    with world.connect() as client:
        head, _, _ = post(PATHS["anthropic"], body, "Expect: 100-continue").partition(b"\r\n\r\n")
        client.socket.sendall(head + b"\r\n\r\n")
        assert client.socket.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        assert client.raw(body).endswith(ANSWER)
    assert upstream.sent[-1].body == body


def test_a_server_s_own_interim_answers_pass(world: World, upstream: Upstream) -> None:
    hint = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
    upstream.scripts = [Script([hint, *whole(ANSWER).pieces])]
    with world.connect() as client:
        client.socket.sendall(post(PATHS["anthropic"], json.dumps(ASKED).encode()))
        seen = b""
        while not seen.endswith(ANSWER):
            seen += client.socket.recv(4096)
    assert seen.startswith(hint)
    world.settled()
    assert len(world.said()) == 2


# Connections


def test_an_old_client_is_answered_in_its_own_protocol(world: World, upstream: Upstream) -> None:
    upstream.scripts = [Script([b"HTTP/1.0 200 OK\r\n\r\n", ANSWER], closes=True)]
    with world.connect() as client:
        client.socket.sendall(post(PATHS["anthropic"], json.dumps(ASKED).encode(), version="1.0"))
        seen = b""
        while more := client.socket.recv(4096):
            seen += more
    assert seen == b"HTTP/1.0 200 OK\r\n\r\n" + ANSWER
    assert upstream.sent[-1].line.endswith(b"HTTP/1.0")
    world.settled()
    assert len(world.said()) == 2


def test_requests_sent_at_once_are_answered_one_by_one_in_order(world: World, upstream: Upstream) -> None:
    upstream.scripts = [whole(b'{"n":%d}' % number) for number in range(5)]
    asked = [post("/v1/embeddings", b'{"n":%d}' % number) for number in range(5)]
    with world.connect() as client:
        client.socket.sendall(b"".join(asked))
        answers = [client.answer() for _ in range(5)]
    assert [answer[-7:] for answer in answers] == [b'{"n":%d}' % number for number in range(5)]
    assert [sent.body for sent in upstream.sent] == [b'{"n":%d}' % number for number in range(5)]


def test_a_connection_is_kept_and_its_end_is_that_of_the_server(world: World, upstream: Upstream) -> None:
    with world.connect() as client:
        assert client.ask("/v1/messages", ASKED)[0] == 200
        upstream.scripts = [Script(whole(ANSWER, "200 OK", "Connection: close").pieces, closes=True)]
        assert client.ask("/v1/messages", ASKED)[0] == 200
        assert client.socket.recv(1) == b""


@pytest.mark.parametrize(
    "garbage",
    [b"\x16\x03\x01\x02\x00\x01\x00", b"hello\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET /a b HTTP/1.1\r\n\r\n"],
)
def test_what_is_no_http_is_refused(world: World, garbage: bytes) -> None:
    with world.connect() as client:
        assert client.raw(garbage).startswith(b"HTTP/1.1 400")
        assert client.socket.recv(1) == b""


def test_a_request_with_two_lengths_never_reaches_the_server(world: World, upstream: Upstream) -> None:
    """Two servers that disagree on where a request ends can be made to answer for another's client."""
    two = b"POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    with world.connect() as client:
        assert client.raw(two).startswith(b"HTTP/1.1 400")
    assert upstream.sent == []


def test_headers_without_an_end_are_refused(world: World) -> None:
    with world.connect() as client:
        lines = b"".join(b"x-%d: %s\r\n" % (number, b"y" * 1000) for number in range(200))
        assert client.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + lines).startswith(b"HTTP/1.1 431")


def test_another_protocol_passes_both_ways(world: World, upstream: Upstream) -> None:
    switched = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"
    upstream.scripts = [Script([switched, b"\x81\x05hello"], pause=0.05)]
    with world.connect() as client:
        asked = b"GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        client.socket.sendall(asked)
        seen = b""
        while not seen.endswith(b"hello"):
            seen += client.socket.recv(4096)
    assert seen == switched + b"\x81\x05hello"


def test_a_server_that_declines_another_protocol_ends_it(world: World, upstream: Upstream) -> None:
    upstream.scripts = [whole(b"no", "400 Bad Request")]
    with world.connect() as client:
        asked = b"GET /v1/realtime HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
        assert client.raw(asked).endswith(b"no")
        assert client.socket.recv(1) == b""


def test_an_offer_of_http_2_is_not_taken_up(world: World, upstream: Upstream) -> None:
    """As Java's own client makes it with every request, body and all."""
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAEAAEAAAAIAAAAB")
    with world.connect() as client:
        for _ in range(2):
            assert client.raw(post(PATHS["anthropic"], json.dumps(ASKED).encode(), *offer)).endswith(ANSWER)
    assert [json.loads(sent.body) for sent in upstream.sent] == [ASKED] * 2
    assert not any(header.startswith((b"Upgrade", b"HTTP2")) for header in upstream.sent[0].headers)
    world.settled()
    assert len(world.keys) == 2


def test_a_hundred_clients_at_once(world: World, upstream: Upstream) -> None:
    upstream.scripts = [whole(ANSWER)]
    clients = [world.connect() for _ in range(100)]
    for number, client in enumerate(clients):
        said = [{"role": "user", "content": f"where is teapot {number}?"}]
        client.socket.sendall(post(PATHS["anthropic"], json.dumps({**ASKED, "messages": said}).encode()))
    for client in clients:
        assert client.answer().endswith(ANSWER)
        client.socket.close()
    world.settled()
    assert len(world.keys) == 100
    assert world.faults == []


def test_a_fault_of_ours_passes_the_request_as_it_came(
    world: World, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.knows()
    broken = {"read": "reading.Reader._talk", "listen": "exchange.Exchange.take", "keep": "exchange.Exchange.answer"}
    body = json.dumps(ASKED).encode()
    for place in broken.values():
        with monkeypatch.context() as patch:
            patch.setattr(f"catmem.proxy.{place}", _breaks)
            status, answer = world.ask("/v1/messages", body)
            assert (status, answer) == (200, ANSWER)
            world.settled()
    assert upstream.sent[0].body == body
    assert [fault.split()[0] for fault in world.faults] == ["ZeroDivisionError"] * 3
    assert world.ask("/v1/messages", body)[0] == 200
    world.settled()
    assert len(world.said()) == 2


def _breaks(*_: object) -> object:
    return 1 // 0


def test_a_proxy_that_ends_cuts_off_what_is_under_way_and_leaves_nothing(tmp_path: Path, upstream: Upstream) -> None:
    upstream.scripts = [Script([b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", *[b"."] * 99], pause=0.2)]
    before = threading.active_count()
    with serving(tmp_path, upstream.url) as world:
        client = Client(socket.create_connection(("127.0.0.1", world.proxy.port)))
        client.socket.sendall(post(PATHS["anthropic"], json.dumps(ASKED).encode()))
        client.socket.recv(10)
    assert client.answer().count(b".") < 99
    client.socket.close()
    assert waited(lambda: threading.active_count() <= before + 1)
