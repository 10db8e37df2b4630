"""Find secrets in text and put a marker in their place: `[secret:KIND:HASH]`.

The rules are data (`formats`, `rules`); here is only how they are applied. HASH is a keyed hash of the
secret, so the same secret has the same marker, and the marker tells neither its length nor its letters.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import namedtuple

from catmem.text.secrets import leads, shapes
from catmem.text.secrets.shapes import anchored, compiled

TYPE_CHECKING = False  # as typing's, without importing it in the hot path
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Mapping
    from typing import Literal

    Source = Literal["said", "tool"]

Span = namedtuple("Span", "kind start end")
Span.__doc__ = "A secret in a text: its kind and where it stands, in characters, the end not included."

MARKER = r"\[secret:([a-z0-9-]{1,40}):([0-9a-f]{8})\]"
_KEY_BYTES = 32
_HASH_BYTES = 4
# A text is searched again after redaction until nothing is found, so that redacting twice changes nothing.
_ROUNDS = 6
# Kinds that yield where they touch another: the host of `scheme://user:password@host` is no address of mail.
_WEAK = ("email", "phone")
# Distinct values of one text that are looked for again in the rest of it.
_REPEATED = 40
_LONGEST_REPEATED = 200


def new_key() -> bytes:
    """A fresh key for the markers' hash: 32 random bytes, one a data directory, kept beside the data."""
    import os

    return os.urandom(_KEY_BYTES)


def redact(text: str, key: bytes, *, source: Source = "said", known: Mapping[str, str] | None = None) -> str:
    """Return `text` with a marker in place of each secret; the rest of the sentence stays.

    `source` is "said" for what people and assistants write and "tool" for output of tools, where only rules that
    hardly ever err are used. `known` (hash -> kind, see `markers`) are secrets found before in the same session: a
    word with one of these hashes is redacted wherever it stands, without its value being kept anywhere.
    """
    for _ in range(_ROUNDS):
        spans = find(text, source)
        if known:
            spans = _merge(spans + _find_known(text, key, known), text)
        if not spans:
            break
        pieces, position = [], 0
        for span in spans:
            pieces += [text[position : span.start], _marker(span.kind, text[span.start : span.end], key)]
            position = span.end
        text = "".join(pieces) + text[position:]
    return text


def find(text: str, source: Source = "said") -> list[Span]:
    """List the secrets of `text`, in order, none overlapping; markers are none."""
    if len(text) < 4:
        return []
    text = _without_data_urls(text)
    if "\\" in text:  # line ends written as two signs end a line, too; positions hold
        text = text.replace("\\n", "\n ").replace("\\r", "  ").replace("\\t", "  ")
    folded = text.lower()
    if len(folded) != len(text):  # a few letters grow in lower case; positions must hold
        folded = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    spans = [Span(*found) for found in shapes.find(text, folded)]
    spans += [Span(*found) for found in leads.find(*_without_blobs(text, folded), source)]
    spans += [Span(*found) for found in shapes.find_weak(text, folded, source)]
    return _merge(spans + list(_repeated(text, spans)), text) if spans else []


def has_secret(text: str, source: Source = "said") -> bool:
    """Does `text` hold a secret?"""
    return bool(find(text, source))


def markers(text: str) -> dict[str, str]:
    """Read the markers that stand in a redacted text: hash -> kind, as `redact` takes them for `known`."""
    return {digest: kind for kind, digest in compiled(MARKER).findall(text)}


def _marker(kind: str, value: str, key: bytes) -> str:
    return f"[secret:{kind}:{_digest(value, key)}]"


def _digest(value: str, key: bytes) -> str:
    from hashlib import blake2b

    return blake2b(value.encode("utf-8", "replace"), key=key[:64], digest_size=_HASH_BYTES).hexdigest()


_DATA_URL = (
    r"(?i)data:[\w.+-]{0,60}/?[\w.+-]{0,60}(?:;[\w=.-]{1,40}){0,4}"
    r";base64,[A-Za-z0-9+/=%-]{40,}"
)


def _without_data_urls(text: str) -> str:
    """Blank out embedded files (same length): their letters are nobody's keys."""
    if ";base64," not in text:
        return text
    return compiled(_DATA_URL).sub(_blank, text)


# Longer than any key in one line; thinking blocks, images and archives have thousands.
_BLOB = r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{400,}={0,2}"


def _without_blobs(text: str, folded: str) -> tuple[str, str]:
    """Blank out long base64 (same length), in which every short word occurs by chance."""
    if len(text) < 400 or not compiled(_BLOB).search(text):
        return text, folded
    blob = compiled(_BLOB)
    return blob.sub(_blank, text), blob.sub(_blank, folded)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _repeated(text: str, spans: list[Span]) -> Iterator[Span]:
    """The same secrets again, where nothing announces them ("so type hunter2 there")."""
    values = {text[span.start : span.end]: span.kind for span in spans}
    for value, kind in list(values.items())[:_REPEATED]:
        if not 6 <= len(value) <= _LONGEST_REPEATED or value.isalpha() or (value.isdigit() and len(value) < 8):
            continue
        for at in anchored(text, value):
            yield Span(kind, at, at + len(value))


_WORDS = r"[!-~]{6,200}"
_EDGES = "\"'`<>()[]{},;:.!?"


def _find_known(text: str, key: bytes, known: Mapping[str, str]) -> list[Span]:
    found = []
    for match in compiled(_WORDS).finditer(text):
        whole = match[0]
        for part in {whole, whole.strip(_EDGES), *compiled(r"[=:/@\"'`,;()<>]").split(whole)}:
            if len(part) >= 6 and (kind := known.get(_digest(part, key))):
                start = match.start() + whole.find(part)
                found.append(Span(kind, start, start + len(part)))
    return found


def _merge(spans: list[Span], text: str) -> list[Span]:
    """Join what overlaps (the earlier rule names the kind), drop what touches a marker."""
    marked = [match.span() for match in compiled(MARKER).finditer(text)] if "[secret:" in text else []
    ends = [end for _, end in marked]
    order = {id(span): place for place, span in enumerate(spans)}
    merged: list[tuple[Span, int]] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        nearest = bisect_right(ends, span.start)  # the first marker that ends after the span begins
        if nearest < len(marked) and marked[nearest][0] < span.end:
            continue
        place = order[id(span)]
        if not merged or span.start >= merged[-1][0].end or merged[-1][0].kind in _WEAK:
            if merged and span.start < merged[-1][0].end:
                merged.pop()
            merged.append((span, place))
        elif span.kind not in _WEAK:
            last, rank = merged[-1]
            kind = last.kind if rank <= place else span.kind
            merged[-1] = (Span(kind, last.start, max(last.end, span.end)), min(rank, place))
    return [span for span, _ in merged]
