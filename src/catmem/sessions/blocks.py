"""A long file of lines, read a block of whole lines at a time (hot path)."""

from __future__ import annotations

from catmem.sessions.records import scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from catmem.sessions.records import Piece

# Large enough that reading costs nothing beside parsing; small beside what a process weighs.
BLOCK = 4 << 20


def blocks(read: Callable[[int, int], bytes], start: int, stop: int) -> Iterator[tuple[int, bytes]]:
    """The bytes from `start` to `stop` as `(offset, whole lines)`; a longer line is a block of its own.

    `read(start, stop)` gives bytes of the file; fewer than asked for if it ends before. The last line may lack its end.
    """
    held: list[bytes] = []
    offset = start
    while start < stop:
        data = read(start, min(start + BLOCK, stop))
        if not data:
            break
        start += len(data)
        cut = data.rfind(b"\n") + 1
        held.append(data[:cut] if cut else data)
        if cut:
            lines = b"".join(held)
            yield offset, lines
            offset += len(lines)
            held = [data[cut:]] if cut < len(data) else []
    if held:
        yield offset, b"".join(held)


def scan_blocks(found: Iterable[tuple[int, bytes]]) -> Iterator[Piece]:
    """Every line of some blocks, as `scan` gives them."""
    for offset, lines in found:
        yield from scan(lines, offset)
