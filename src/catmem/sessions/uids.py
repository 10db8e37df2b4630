"""A set of uids that is small beside the messages: millions of them fit where their texts would not."""

from __future__ import annotations

from catmem.domain.hashing import digest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# With 16 bytes two of a billion uids meet by chance once in 10^20 histories: a new message is not taken for a known one.
_BYTES = 16
# A bucket is searched from one end to the other: at a million uids it has 250, 4 KB, which takes a microsecond.
_BUCKETS = 1 << 12


class Uids:
    """Holds the hashes of texts; about 20 bytes each, where a set of the texts themselves takes 200."""

    __slots__ = ("_buckets",)

    def __init__(self, uids: Iterable[str] = ()) -> None:
        self._buckets: dict[int, bytearray] = {}
        self.update(uids)

    def __contains__(self, uid: str) -> bool:
        number, hashed = _place_of(uid)
        bucket = self._buckets.get(number)
        return bucket is not None and _holds(bucket, hashed)

    def add(self, uid: str) -> bool:
        """Adds a uid; False if it was there."""
        number, hashed = _place_of(uid)
        bucket = self._buckets.setdefault(number, bytearray())
        if _holds(bucket, hashed):
            return False
        bucket += hashed
        return True

    def update(self, uids: Iterable[str]) -> None:
        for uid in uids:
            self.add(uid)


def _place_of(uid: str) -> tuple[int, bytes]:
    hashed = digest(uid, _BYTES)
    return int.from_bytes(hashed[:2], "big") % _BUCKETS, hashed


def _holds(bucket: bytearray, hashed: bytes) -> bool:
    at = bucket.find(hashed)
    while at >= 0 and at % _BYTES:  # across two of them
        at = bucket.find(hashed, at + 1)
    return at >= 0
