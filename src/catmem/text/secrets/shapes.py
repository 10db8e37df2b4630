"""Secrets that have a form of their own: known prefixes, structures, private keys, cookies, numbers, addresses."""

from __future__ import annotations

import re
from functools import cache

from catmem.text.secrets.checks import CHECKS, is_mixed
from catmem.text.secrets.formats import FORMATS
from catmem.text.secrets.rules import NUMBERS, PLAIN_COOKIES, SHAPES

TYPE_CHECKING = False  # as typing's, without importing it in the hot path
if TYPE_CHECKING:
    from collections.abc import Iterator

Found = tuple[str, int, int]  # kind, start, end

_FOLD = int(re.ASCII | re.IGNORECASE)


def find(text: str, folded: str) -> Iterator[Found]:
    """Yield kind, start and end of each, the surest first. `folded` is `text` in lower case, of the same length."""
    yield from _find_keys(text, folded)
    yield from _find_formats(text)
    yield from _find_shapes(text, folded)
    yield from _find_cookies(text, folded)


def find_weak(text: str, folded: str, source: str) -> Iterator[Found]:
    """Yield the numbers and addresses of people: what stronger rules found goes before these."""
    yield from _find_numbers(text, folded, source)
    if source == "said":
        yield from _find_addresses(text)


@cache
def compiled(pattern: str, flags: int = re.ASCII) -> re.Pattern[str]:
    """A pattern, compiled on first use and kept."""
    return re.compile(pattern, flags)


def plain(folded: str) -> str:
    """The ASCII letters of a text alone: what is not in there is not in the text, and the search is twice as fast."""
    return folded if folded.isascii() else folded.encode("ascii", "ignore").decode("ascii")


def anchored(text: str, anchor: str) -> Iterator[int]:
    """Yield where `anchor` stands in `text`, occurrences that overlap counted once."""
    at = text.find(anchor)
    while at >= 0:
        yield at
        at = text.find(anchor, at + len(anchor))


def _begins(text: str, at: int) -> bool:
    """Does a token begin here? A letter before it that belongs to an escape (`%3D`) does not count."""
    before = text[at - 1 : at]
    if not (before.isascii() and before.isalnum()):
        return True
    return text[max(at - 3, 0) : at - 2] == "%" and bool(compiled(r"%[0-9A-Fa-f]{2}").match(text, at - 3))


# The shortest key of `FORMATS`, its prefix included, has more characters than this.
_LONG_RUNS = r"[A-Za-z0-9_+/=.$%!:-]{14,}"


@cache
def _formats() -> tuple[tuple[str, str, str], ...]:
    return tuple((prefix, kind, rest) for kind, prefixes, rest in FORMATS for prefix in prefixes.split(" "))


def _find_formats(text: str) -> Iterator[Found]:
    runs = "\n".join(compiled(_LONG_RUNS).findall(text))
    if not runs:
        return
    for prefix, kind, rest in _formats():
        if prefix not in runs:
            continue
        pattern = compiled(rest)
        at = text.find(prefix)
        while at >= 0:
            end = at + len(prefix)
            match = pattern.match(text, end) if _begins(text, at) else None
            if match and len(set(match[0])) > 4:
                end = _unwrapped(text, at, match.end())
                yield kind, at, end
            at = text.find(prefix, end)


# A key broken over lines by a terminal goes on with a line that is nothing but its alphabet.
_WRAPPED = r"\\?\r?\n[ \t]{0,8}(?P<v>[A-Za-z0-9_+/=.-]{8,200})[ \t]*(?=\r?\n|$|[\"'])"


def _unwrapped(text: str, start: int, end: int) -> int:
    if end - start < 40:  # shorter keys fit a line
        return end
    while match := compiled(_WRAPPED).match(text, end):
        value = match["v"]
        if not (is_mixed(value) and value != value.lower() and value != value.upper()):
            break
        end = match.end("v")
    return end


@cache
def _shapes() -> tuple[tuple[str, str, str, str, str], ...]:
    return tuple(
        (anchor, kind, before, after, check)
        for kind, anchors, before, after, check in SHAPES
        for anchor in anchors.split("\n")
    )


def _find_shapes(text: str, folded: str) -> Iterator[Found]:
    ascii_only = plain(folded)
    for anchor, kind, before, after, check in _shapes():
        if anchor in (ascii_only if anchor.isascii() else folded):
            for at in anchored(folded, anchor):
                if found := _match_shape(text, at, before, after, check):
                    yield kind, *found


def _match_shape(text: str, at: int, before: str, after: str, check: str) -> tuple[int, int] | None:
    if check == "piped":
        return _piped(text, at)
    match = compiled(after, _FOLD).match(text, at)
    if not match:
        return None
    named = "v" in match.re.groupindex
    start, end = match.span("v") if named else match.span()
    if before:
        window = text[max(0, at - 120) : at]
        head = compiled(before, _FOLD).search(window)
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
    match = compiled(_PIPED).search(text[start:at])
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


def _find_keys(text: str, folded: str) -> Iterator[Found]:
    """Private keys in PEM and its cousins, with real or escaped line ends, whole or cut off."""
    if "begin " not in folded:
        return
    position, tail = 0, (-1, -1)
    while head := compiled(_PEM_HEAD, _FOLD).search(text, position):
        if tail[0] < head.end():  # the next end, looked for once
            found = compiled(_PEM_TAIL, _FOLD).search(text, head.end())
            tail = found.span() if found else (len(text) + _PEM_LONGEST, 0)
        body = compiled(_PEM_BODY).match(text, head.end(), head.end() + _PEM_LONGEST)
        position = body.end() if body else head.end()
        if tail[0] - head.end() < _PEM_LONGEST:
            position = tail[1]
        if len({c for c in text[head.end() : head.end() + 64] if c.isalnum()}) > 3:
            yield "private-key", head.start(), position


_COOKIE = r"(?P<name>[\w.-]{1,80})=(?P<v>[^;\s\"',]{8,4000})"


_COOKIE_HEADER = r"cookies?[\"'\\]{0,4}\s?[:=,]\s?[\"'\\]{0,4}"
_COOKIES_LONGEST = 8_000


def _find_cookies(text: str, folded: str) -> Iterator[Found]:
    """The sessions in a Cookie or Set-Cookie header; settings such as `theme=dark` stay."""
    end = 0
    for at in anchored(folded, "cookie"):
        header = compiled(_COOKIE_HEADER).match(folded, at) if at >= end else None
        if not header:
            continue
        line_end = text.find("\n", header.end(), header.end() + _COOKIES_LONGEST)
        end = line_end if line_end >= 0 else min(len(text), header.end() + _COOKIES_LONGEST)
        for pair in compiled(_COOKIE).finditer(text, header.end(), end):
            long_enough = is_mixed(pair["v"]) or len(pair["v"]) >= 20
            if long_enough and pair["name"].lower() not in PLAIN_COOKIES and CHECKS["header"](text, *pair.span("v")):
                yield "cookie", *pair.span("v")


def _find_numbers(text: str, folded: str, source: str) -> Iterator[Found]:
    if not compiled(r"\d[\d ().-]{6}").search(text):
        return
    for kind, pattern, check, in_tools in NUMBERS:
        if source == "tool" and not in_tools:
            continue
        for match in compiled(pattern).finditer(text):
            if not check or CHECKS[check](folded if check.startswith("phone") else text, *match.span()):
                yield kind, *match.span()


# RFC 5321 lengths. The last label is one people have: what follows an @ in code (`n@app.route`) is none of these.
_ADDRESS = (
    r"(?<![\w.\\/@:+-])[A-Za-z0-9_][\w.+-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.){1,5}"
    r"(?:com|org|net|edu|gov|mil|int|info|biz|dev|app|cloud|tech|online|site|shop|xyz|mail|email|work|live|name|pro|test"
    r"|example|[a-z]{2})(?![\w@(:/-]|\.\w)"
)
# Addresses of machines and of nobody.
_NOBODY = r"^(?:git|noreply|no-reply|donotreply|root|actions|bot|ssh|svn|hg)@|users\.noreply"


def _find_addresses(text: str) -> Iterator[Found]:
    if "@" not in text:
        return
    for match in compiled(_ADDRESS).finditer(text):
        login = compiled(r"(?:ssh|scp|rsync|sftp|mosh|clone|ssh-copy-id)\s[^\n|;]{0,60}$")
        if not compiled(_NOBODY).search(match[0].lower()) and not login.search(
            text[max(0, match.start() - 70) : match.start()]
        ):
            yield "email", *match.span()
