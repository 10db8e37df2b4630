"""That the programs of others, as the tests here start them, cannot call home."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

# An address that nobody has (TEST-NET-1): nothing is sent where there is no way to it.
ASK = "import socket; socket.create_connection(('192.0.2.1', 9), timeout=5)"


def test_what_is_started_finds_loopback_and_nothing_else(alone: bool) -> None:
    if not alone:
        assert os.geteuid() != 0 or sys.platform != "linux", "root on Linux may leave the network"
        pytest.skip("this machine does not allow a network of its own")
    asked = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=False)
    assert asked.returncode != 0 and "unreachable" in asked.stderr
    with socket.create_server(("127.0.0.1", 0)) as server:
        ask = ASK.replace("'192.0.2.1', 9", f"'127.0.0.1', {server.getsockname()[1]}")
        assert subprocess.run([sys.executable, "-c", ask], check=False).returncode == 0
