"""Days and instants as people write them on a command line."""

from __future__ import annotations

from catmem.domain.clock import parse_instant
from catmem.domain.errors import BadInput


def day(text: str | None, end: bool = False) -> str | None:
    """A day or an instant of the user's zone as a stamp; the end of the day for `--until`. Raises BadInput."""
    if text is None:
        return None
    instant = parse_instant(f"{text}T23:59:59.999" if end and len(text) == 10 else text)
    if instant is None:
        raise BadInput(f"{text!r} is not a date; write 2026-05-31", f"{text!r} 不是日期；请写成 2026-05-31")
    return instant[0]
