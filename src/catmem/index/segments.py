"""When an index has too many small segments: each has a dictionary of its own, a quarter of what a few thousand texts take.

Tantivy merges segments of about one size when there are eight of them, and cannot be asked to before. Of a few thousand
messages that come at once, an import, there are as many as memory asks for, say five; three more are missing then, be
they of one document each.
"""

from __future__ import annotations

from collections.abc import Sequence

# Tantivy's policy of merging: so many segments, of which the largest has 1.7 times as many documents as the least; all
# below 10,000 count as equal.
_MERGED = 8
_ONE_SIZE = 2**0.75
_LEAST = 10_000
# So many documents in other small segments than the largest are worth half a second of work.
_WORTH = 250


def smallest(sizes: Sequence[int]) -> list[int]:
    """Of the sizes of all segments those of the small ones, which would be merged together; largest first."""
    found: list[int] = []
    for size in sorted(sizes, reverse=True):
        if found and max(size, _LEAST) * _ONE_SIZE < max(found[0], _LEAST):
            found.clear()
        found.append(size)
    return found


def missing(small: Sequence[int]) -> int:
    """How many more small segments there must be until they are merged; 0 if that is not worth it."""
    return max(0, _MERGED - len(small)) if sum(small[1:]) >= _WORTH else 0
