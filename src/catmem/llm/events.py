"""Server-sent events, cut from the bytes of a stream."""

from __future__ import annotations

from collections.abc import Iterator


def event_data(chunks: Iterator[bytes]) -> Iterator[str]:
    """The data of each server-sent event; names and ids of events are not needed (WHATWG HTML, 9.2.6).

    Data that the end of the stream cut off before its empty line is given too: some servers forget the last one.
    """
    data: list[str] = []
    for line in _lines(chunks):
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []
    if data:
        yield "\n".join(data)


def _lines(chunks: Iterator[bytes]) -> Iterator[str]:
    rest: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        rest.append(first)
        for part in others:
            yield b"".join(rest).rstrip(b"\r").decode("utf-8", "replace")
            rest = [part]
    yield b"".join(rest).rstrip(b"\r").decode("utf-8", "replace")
