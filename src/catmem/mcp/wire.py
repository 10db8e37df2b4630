"""JSON-RPC 2.0 as MCP puts it on stdio: one JSON text a line, each way.

This and what it imports stands between the start of the program and its first answer, so it is the standard library.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping
from typing import Any

PARSE_ERROR, INVALID_REQUEST, NO_SUCH_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602

# The longest text that a tool takes has 4,000 characters; a line of this length is no request of ours.
LONGEST_LINE = 4 << 20
_AT_ONCE = 1 << 16


class Refused(Exception):
    """A request that the protocol answers with an error: its code and a sentence."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Wire:
    """Reads from one descriptor and writes to the other; answers may be sent from several threads."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink
        self._sending = threading.Lock()

    def lines(self) -> Iterator[bytes | None]:
        """The lines that come in, until the other side closes; None stands for one that was too long."""
        held, skipping = b"", False
        while data := self._read():
            *whole, held = (held + data).split(b"\n")
            for line in whole:
                if skipping:
                    skipping = False
                elif line.strip():
                    yield line
            if len(held) > LONGEST_LINE:
                if not skipping:
                    yield None
                held, skipping = b"", True
        if held.strip() and not skipping:
            yield held

    def answer(self, id: str | int, result: Mapping[str, Any]) -> None:
        self._send({"jsonrpc": "2.0", "id": id, "result": result})

    def refuse(self, id: str | int | None, refused: Refused) -> None:
        self._send({"jsonrpc": "2.0", "id": id, "error": {"code": refused.code, "message": str(refused)}})

    def _read(self) -> bytes:
        try:
            return os.read(self._source, _AT_ONCE)
        except OSError:
            return b""  # A terminal or a peer that went away is the end, too.

    def _send(self, message: Mapping[str, Any]) -> None:
        """One line, whole. Raises OSError when nobody reads any more."""
        data = memoryview(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
        with self._sending:
            while data:
                data = data[os.write(self._sink, data) :]


def message_of(line: bytes | None) -> dict[str, Any]:
    """The message of a line. Raises Refused for what is none; a batch is none since protocol 2025-06-18."""
    if line is None:
        raise Refused(PARSE_ERROR, f"a message may have at most {LONGEST_LINE} bytes")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused(PARSE_ERROR, "not a line of JSON in UTF-8") from error
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise Refused(INVALID_REQUEST, "not a JSON-RPC 2.0 message")
    return message
