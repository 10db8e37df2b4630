"""What text may be stored, how a line of bytes becomes text, and what a terminal may be shown."""

from __future__ import annotations

REPLACEMENT = "\ufffd"

# First bytes of what people drop on an importer by mistake. UTF-32 stands before UTF-16, whose mark begins it.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
    (b"PK\x03\x04", "zip"),
    (b"PK\x05\x06", "zip"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "7-zip"),
    (b"SQLite format 3\x00", "SQLite"),
    (b"%PDF-", "PDF"),
)

# Half of the bytes NUL on one side of each pair is UTF-16 without a mark; a text has none. 1 in 3 leaves room for CJK.
_NUL_SHARE = 3


def clean(text: str) -> str:
    """Return `text` as it may be stored: it encodes to UTF-8 and holds no NUL.

    The two halves of a surrogate pair that arrived apart (JSON escapes decoded one by one) are joined, a lone half
    and a NUL each become U+FFFD. Everything else, other control characters too, stays: history is word for word.
    """
    if "\x00" in text:
        text = text.replace("\x00", REPLACEMENT)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def decode_line(raw: bytes) -> str:
    """Decode one line: UTF-8, a wrong byte becomes U+FFFD; one leading BOM and the line ending are dropped."""
    if raw.startswith(b"\xef\xbb\xbf"):
        raw = raw[3:]
    return raw.rstrip(b"\r\n").decode("utf-8", "replace")


def sniff(raw_prefix: bytes) -> str | None:
    """Name what the first bytes of a file are when they are not UTF-8 text, else None.

    A few hundred bytes are enough. UTF-16 without a byte order mark is known by its NULs.
    """
    for signature, name in _SIGNATURES:
        if raw_prefix.startswith(signature):
            return name
    sample = raw_prefix[:512]
    if len(sample) >= 8:
        even, odd = sample[0::2].count(0), sample[1::2].count(0)
        half = len(sample) // 2
        # One side only: a text with some NUL characters in it has them on both.
        if min(even, odd) * 8 < max(even, odd) and max(even, odd) * _NUL_SHARE > half:
            return "UTF-16"
    return None


def printable(text: str) -> str:
    """Return `text` so that a terminal shows it and obeys none of it. Newline and tab stay.

    C0 controls become their picture (ESC -> U+241B), C1 controls, line separators and what reorders or hides
    (bidirectional overrides, U+202A-202E, U+2066-2069, U+200E/F, U+061C) become `<U+XXXX>`.
    """
    if text.isascii() and text.isprintable():
        return text
    return clean(text).translate(_shown())


_SHOWN: dict[int, str] = {}


def _shown() -> dict[int, str]:
    """Build the table on first use: the hot path never prints to a terminal."""
    if not _SHOWN:
        kept = {0x09, 0x0A}
        named = [*range(0x80, 0xA0), 0x061C, 0x200E, 0x200F, 0x2028, 0x2029, *range(0x202A, 0x202F)]
        named += [*range(0x2066, 0x206A), 0xFEFF, *range(0xE0000, 0xE0080)]
        _SHOWN.update({point: f"<U+{point:04X}>" for point in named})
        _SHOWN.update({point: chr(0x2400 + point) for point in range(0x20) if point not in kept})
        _SHOWN[0x7F] = "\u2421"
    return _SHOWN
