"""Servers behind TLS, and networks that let nobody out but through a proxy of their own."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.proxy.talks import answer_whole
from tests.proxy.test_passing import ASKED
from tests.proxy.upstream import Upstream, whole
from tests.proxy.world import serving

ANSWER = answer_whole("anthropic", "it is on the third shelf")
pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")


class SecureUpstream(Upstream):
    """The same server behind TLS."""

    context: ssl.SSLContext

    def _serve(self, connection: socket.socket) -> None:
        try:
            secured = self.context.wrap_socket(connection, server_side=True)
        except OSError:
            connection.close()
            return
        super()._serve(secured)

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(cert)]
    names = ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*command, *names], check=True, capture_output=True)
    return key, cert


@pytest.fixture
def upstream(certificate: tuple[Path, Path]) -> Iterator[SecureUpstream]:
    server = SecureUpstream([whole(ANSWER)])
    server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.context.load_cert_chain(certificate[1], certificate[0])
    with server:
        yield server


@pytest.fixture
def trusting(monkeypatch: pytest.MonkeyPatch, certificate: tuple[Path, Path]) -> None:
    monkeypatch.setenv("NODE_EXTRA_CA_CERTS", str(certificate[1]))


@pytest.mark.usefixtures("trusting")
def test_a_server_that_the_user_trusts_is_asked(tmp_path: Path, upstream: SecureUpstream) -> None:
    with serving(tmp_path, upstream.url) as world:
        assert world.ask("/v1/messages", ASKED) == (200, ANSWER)
        assert b"Host: localhost:%d" % upstream.port in upstream.sent[0].headers
        world.settled()
        assert len(world.said()) == 2


def test_a_server_that_nobody_vouches_for_is_not_asked(tmp_path: Path, upstream: SecureUpstream) -> None:
    with serving(tmp_path, upstream.url) as world:
        status, body = world.ask("/v1/messages", ASKED)
        assert status == 502
        assert b"certificate" in body
    assert upstream.sent == []


@pytest.mark.usefixtures("trusting")
def test_the_proxy_of_a_network_is_asked_to_connect(
    tmp_path: Path, upstream: SecureUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Network() as network:
        monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{network.port}")
        monkeypatch.setenv("NO_PROXY", "")
        with serving(tmp_path, upstream.url) as world:
            assert world.ask("/v1/messages", ASKED) == (200, ANSWER)
            assert network.asked == [b"CONNECT localhost:%d HTTP/1.1" % upstream.port]
            monkeypatch.setenv("NO_PROXY", "localhost")
            assert world.ask("/v1/messages", ASKED) == (200, ANSWER)
            assert len(network.asked) == 1


class Network:
    """A proxy that connects whoever asks it to."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]

    def __enter__(self) -> Network:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                inner, _ = self._socket.accept()
            except OSError:
                return
            line = b""
            while not line.endswith(b"\r\n\r\n"):
                line += inner.recv(1)
            self.asked.append(line.split(b"\r\n")[0])
            port = int(line.split(b" ")[1].rpartition(b":")[2])
            outer = socket.create_connection(("127.0.0.1", port))
            inner.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            for one, other in ((inner, outer), (outer, inner)):
                threading.Thread(target=_pump, args=(one, other), daemon=True).start()


def _pump(one: socket.socket, other: socket.socket) -> None:
    try:
        while data := one.recv(1 << 16):
            other.sendall(data)
    except OSError:
        pass
    finally:
        other.close()
