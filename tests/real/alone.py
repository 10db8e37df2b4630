"""A network with nothing but loopback, where the machine allows it: what calls home is not heard."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import socket
import struct
import sys

_NEW_NETWORK = 0x40000000  # CLONE_NEWNET
_SET_FLAGS, _GET_FLAGS, _UP = 0x8914, 0x8913, 0x1


def leave_the_network() -> bool:
    """Moves this thread, and whatever it starts from now on, into a network of its own. False where that is refused."""
    if sys.platform != "linux" or ctypes.CDLL(None, use_errno=True).unshare(_NEW_NETWORK) != 0:
        return False
    with contextlib.closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
        request = struct.pack("16sh14x", b"lo", 0)
        flags = struct.unpack("16sh14x", fcntl.ioctl(probe, _GET_FLAGS, request))[1]
        fcntl.ioctl(probe, _SET_FLAGS, struct.pack("16sh14x", b"lo", flags | _UP))
    return True
