"""Find secrets in text and put a marker in their place: `[secret:KIND:HASH]`.

The rules are data (`secret_formats`, `secret_rules`); here is only how they are applied. HASH is a keyed hash of the
secret, so the same secret has the same marker, and the marker tells neither its length nor its letters.
"""

from __future__ import annotations

import re
from collections import namedtuple
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Literal

from catmem.text import secret_leads
from catmem.text.secret_checks import CHECKS, is_mixed
from catmem.text.secret_formats import FORMATS
from catmem.text.secret_rules import NUMBERS, PLAIN_COOKIES, SHAPES

Source = Literal["said", "tool"]
Span = namedtuple("Span", "kind start end")  # noqa: PYI024 - a dataclass would double the cost of the import
Span.__doc__ = "A secret in a text: its kind and where it stands, in characters, the end not included."

MARKER = r"\[secret:([a-z0-9-]{1,40}):([0-9a-f]{8})\]"
_KEY_BYTES = 32
_HASH_BYTES = 4
# A text is searched again after redaction until nothing is found, so that redacting twice changes nothing.
_ROUNDS = 6
# Distinct values of one text that are looked for again in the rest of it.
_REPEATED = 40


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
    folded = text.lower()
    if len(folded) != len(text):  # a few letters grow in lower case; positions must hold
        folded = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    spans = list(_find_keys(text, folded))
    spans += _find_formats(text)
    spans += _find_shapes(text, folded)
    spans += _find_cookies(text, folded)
    spans += [Span(*found) for found in secret_leads.find(text, folded, source)]
    spans += _find_numbers(text, folded, source)
    if source == "said":
        spans += _find_addresses(text)
    if not spans:
        return []
    return _merge(spans + list(_repeated(text, spans)), text)


def has_secret(text: str, source: Source = "said") -> bool:
    """Does `text` hold a secret?"""
    return bool(find(text, source))


def markers(text: str) -> dict[str, str]:
    """Read the markers that stand in a redacted text: hash -> kind, as `redact` takes them for `known`."""
    return {digest: kind for kind, digest in _compiled(MARKER).findall(text)}


def _marker(kind: str, value: str, key: bytes) -> str:
    return f"[secret:{kind}:{_digest(value, key)}]"


def _digest(value: str, key: bytes) -> str:
    from hashlib import blake2b

    return blake2b(value.encode("utf-8", "replace"), key=key[:64], digest_size=_HASH_BYTES).hexdigest()


@cache
def _compiled(pattern: str, flags: int = re.ASCII) -> re.Pattern[str]:
    return re.compile(pattern, flags)


_DATA_URL = r"(?i)data:[\w.+-]{0,60}/?[\w.+-]{0,60}(?:;[\w=.-]{1,40}){0,4};base64,[A-Za-z0-9+/=\\s]{40,}"


def _without_data_urls(text: str) -> str:
    """Blank out embedded files (same length): their letters are nobody's keys."""
    if ";base64," not in text:
        return text
    return _compiled(_DATA_URL).sub(lambda match: " " * len(match[0]), text)


def _anchored(text: str, anchor: str) -> Iterator[int]:
    at = text.find(anchor)
    while at >= 0:
        yield at
        at = text.find(anchor, at + len(anchor))


def _begins(text: str, at: int) -> bool:
    """Does a token begin here? A letter before it that belongs to an escape (`\\n`, `%3D`) does not count."""
    before = text[at - 1 : at]
    if not (before.isascii() and before.isalnum()):
        return True
    if before in "nrt" and text[at - 2 : at - 1] == "\\":
        return True
    return text[max(at - 3, 0) : at - 2] == "%" and bool(_compiled(r"%[0-9A-Fa-f]{2}").match(text, at - 3))


def _find_formats(text: str) -> Iterator[Span]:
    for kind, prefixes, rest in FORMATS:
        for prefix in prefixes.split(" "):
            if prefix not in text:
                continue
            pattern = _compiled(rest)
            for at in _anchored(text, prefix):
                match = pattern.match(text, at + len(prefix)) if _begins(text, at) else None
                if match and len(set(match[0])) > 4:
                    yield Span(kind, at, _unwrapped(text, at, match.end()))


# A key broken over lines by a terminal goes on with a line that is nothing but its alphabet.
_WRAPPED = r"\\?\r?\n[ \t]{0,8}(?P<v>[A-Za-z0-9_+/=.-]{8,200})[ \t]*(?=\r?\n|$|[\"'])"


def _unwrapped(text: str, start: int, end: int) -> int:
    if end - start < 40:  # shorter keys fit a line
        return end
    while match := _compiled(_WRAPPED).match(text, end):
        value = match["v"]
        if not (is_mixed(value) and value != value.lower() and value != value.upper()):
            break
        end = match.end("v")
    return end


def _find_shapes(text: str, folded: str) -> Iterator[Span]:
    for kind, anchors, before, after, check in SHAPES:
        for anchor in anchors.split("\n"):
            for at in _anchored(folded, anchor) if anchor in folded else ():
                if found := _match_shape(text, at, before, after, check):
                    yield Span(kind, *found)


def _match_shape(text: str, at: int, before: str, after: str, check: str) -> tuple[int, int] | None:
    if check == "piped":
        return _piped(text, at)
    match = _compiled(after, re.ASCII | re.IGNORECASE).match(text, at)
    if not match:
        return None
    named = "v" in match.re.groupindex
    start, end = match.span("v") if named else match.span()
    if before:
        window = text[max(0, at - 120) : at]
        head = _compiled(before, re.ASCII | re.IGNORECASE).search(window)
        if not head:
            return None
        if not named:
            start = at - len(window) + (head.start(1) if head.re.groups else head.start())
            end = at if head.re.groups else end
    if check and not CHECKS[check](text, start, end):
        return None
    return start, end


_PIPED = r"(?:echo|printf|print)\s+(?:-\w+\s+)*(?:\"([^\"\n]{2,200})\"|'([^'\n]{2,200})'|([^\s\"'|]{2,200}))\s*$"


def _piped(text: str, at: int) -> tuple[int, int] | None:
    """`echo PASSWORD | sudo -S …`: the value stands before the anchor."""
    start = max(0, at - 240)
    match = _compiled(_PIPED).search(text[start:at])
    if not match or match.lastindex is None:
        return None
    value = match.span(match.lastindex)
    named = text.find(":", start + value[0], start + value[1])
    if "chpasswd" in text[at : at + 12] and named > 0:
        value = (named + 1 - start, value[1])
    found = (start + value[0], start + value[1])
    return found if CHECKS["argument"](text, *found) else None


_PEM_HEAD = r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}"
_PEM_TAIL = r"-{4,5} ?END [A-Z0-9 ]{0,40}(?:PRIVATE KEY(?: BLOCK)?|Static key V1) ?-{4,5}"
_PEM_BODY = r"(?:[A-Za-z0-9+/=\s\\,:|>\"'.]|-(?!----))*"
# A 16,384-bit RSA key has some 12,500 characters; twice that leaves room for indentation.
_PEM_LONGEST = 25_000


def _find_keys(text: str, folded: str) -> Iterator[Span]:
    """Private keys in PEM and its cousins, with real or escaped line ends, whole or cut off."""
    if "begin " not in folded:
        return
    position = 0
    while head := _compiled(_PEM_HEAD, re.ASCII | re.IGNORECASE).search(text, position):
        tail = _compiled(_PEM_TAIL, re.ASCII | re.IGNORECASE).search(text, head.end(), head.end() + _PEM_LONGEST)
        body = _compiled(_PEM_BODY).match(text, head.end(), head.end() + _PEM_LONGEST)
        position = tail.end() if tail else body.end() if body else head.end()
        if sum(c.isalnum() for c in text[head.end() : head.end() + 64]) > 8 and position - head.end() > 24:
            yield Span("private-key", head.start(), position)


_COOKIE = r"(?P<name>[\w.-]{1,80})=(?P<v>[^;\s\"',]{8,4000})"


def _find_cookies(text: str, folded: str) -> Iterator[Span]:
    """The sessions in a Cookie or Set-Cookie header; settings such as `theme=dark` stay."""
    for at in _anchored(folded, "cookie"):
        header = _compiled(r"cookies?[\"'\\]{0,4}\s?[:=,]\s?[\"'\\]{0,4}").match(folded, at)
        if not header:
            continue
        end = text.find("\n", header.end())
        line_end = len(text) if end < 0 else end
        for pair in _compiled(_COOKIE).finditer(text, header.end(), min(line_end, header.end() + 8000)):
            value = pair["v"]
            if pair["name"].lower() not in PLAIN_COOKIES and (is_mixed(value) or len(value) >= 20):
                if CHECKS["header"](text, *pair.span("v")):
                    yield Span("cookie", *pair.span("v"))


def _find_numbers(text: str, folded: str, source: Source) -> Iterator[Span]:
    if not _compiled(r"\d[\d ().-]{6}").search(text):
        return
    for kind, pattern, check, in_tools in NUMBERS:
        if source == "tool" and not in_tools:
            continue
        for match in _compiled(pattern).finditer(text):
            if not check or CHECKS[check](folded if check.startswith("phone") else text, *match.span()):
                yield Span(kind, *match.span())


# RFC 5321 lengths. The last label is one people have: what follows an @ in code (`n@app.route`) is none of these.
_ADDRESS = (
    r"(?<![\w.\\/@:+-])[A-Za-z0-9_][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}"
    r"(?:com|org|net|edu|gov|mil|int|info|biz|dev|app|cloud|tech|online|site|shop|xyz|mail|email|work|live|name|pro|test"
    r"|example|[a-z]{2})(?![\w@(:/-]|\.\w)"
)
# Addresses of machines and of nobody.
_NOBODY = r"^(?:git|noreply|no-reply|donotreply|root|actions|bot|ssh|svn|hg)@|users\.noreply"


def _find_addresses(text: str) -> Iterator[Span]:
    if "@" not in text:
        return
    for match in _compiled(_ADDRESS).finditer(text):
        login = _compiled(r"(?:ssh|scp|rsync|sftp|mosh|clone|ssh-copy-id)\s[^\n|;]{0,60}$")
        if not _compiled(_NOBODY).search(match[0].lower()) and not login.search(
            text[max(0, match.start() - 70) : match.start()]
        ):
            yield Span("email", *match.span())


def _repeated(text: str, spans: list[Span]) -> Iterator[Span]:
    """The same secrets again, where nothing announces them ("so type hunter2 there")."""
    values = {text[span.start : span.end]: span.kind for span in spans}
    for value, kind in list(values.items())[:_REPEATED]:
        if len(value) < 6 or value.isalpha() or (value.isdigit() and len(value) < 8):
            continue
        for at in _anchored(text, value):
            yield Span(kind, at, at + len(value))


_WORDS = r"[!-~]{6,200}"
_EDGES = "\"'`<>()[]{},;:.!?"


def _find_known(text: str, key: bytes, known: Mapping[str, str]) -> list[Span]:
    found = []
    for match in _compiled(_WORDS).finditer(text):
        whole = match[0]
        for part in {whole, whole.strip(_EDGES), *_compiled(r"[=:/@\"'`,;()<>]").split(whole)}:
            if len(part) >= 6 and (kind := known.get(_digest(part, key))):
                start = match.start() + whole.find(part)
                found.append(Span(kind, start, start + len(part)))
    return found


def _merge(spans: list[Span], text: str) -> list[Span]:
    """Join what overlaps (the earlier rule names the kind), drop what touches a marker."""
    marked = [match.span() for match in _compiled(MARKER).finditer(text)] if "[secret:" in text else []
    order = {id(span): place for place, span in enumerate(spans)}
    merged: list[tuple[Span, int]] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if any(span.start < end and start < span.end for start, end in marked):
            continue
        place = order[id(span)]
        if merged and span.start < merged[-1][0].end:
            last, rank = merged[-1]
            kind = last.kind if rank <= place else span.kind
            merged[-1] = (Span(kind, last.start, max(last.end, span.end)), min(rank, place))
        else:
            merged.append((span, place))
    return [span for span, _ in merged]
