"""One short hash for ids and names (hot path)."""

from __future__ import annotations

try:
    # hashlib loads OpenSSL for it, which costs a hook 2.5 ms; this is the same function without.
    from _blake2 import blake2b
except ImportError:  # another Python than CPython
    from hashlib import blake2b


def short_hash(text: str, size: int) -> str:
    """`size` bytes of BLAKE2b of a text, in hexadecimal. Lone surrogates, as file names have them, count too."""
    return digest(text, size).hex()


def digest(text: str, size: int) -> bytes:
    """The same as bytes."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).digest()
