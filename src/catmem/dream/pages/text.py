"""The text of a page: what of it is ours and what is the user's, read loosely and written back exactly.

Ours is the part between two comments; everything else belongs to the user and is kept byte for byte. A bullet of ours
ends in a comment with the memory's id.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

END = "<!-- catmem:end -->"

_BEGIN = re.compile(r"^<!-- catmem:begin\b\s*(?P<token>[0-9a-f]*).*-->$")
_BULLET = re.compile(r"^\s{0,3}[-*+]\s+(?P<text>.*)$")
_ID = re.compile(r"\s*<!--\s*(?P<id>m[0-9a-f]{4,})\s*-->\s*$")
_COMMENT = re.compile(r"^\s*<!--.*-->\s*$")


@dataclass(frozen=True, slots=True)
class Bullet:
    """A line of the managed part. `id` is "" for one that the user wrote; `heading` is the last one above it."""

    text: str
    id: str = ""
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A page, taken apart.

    before, after   the user's text around the managed part
    bullets         what the managed part lists
    strays          lines of the managed part that are neither bullets nor ours: the user's, who must not lose them
    token           what the opening comment says of the bullets that we wrote; "" unless both comments stand there:
                    only then is a bullet that is missing one that was deleted
    newline         how its lines end
    """

    before: str = ""
    after: str = ""
    bullets: tuple[Bullet, ...] = ()
    strays: tuple[str, ...] = ()
    token: str = ""
    newline: str = "\n"


def harmless(text: str) -> str:
    """A statement as one line that cannot open or close a comment; what is kept is compared with this."""
    return " ".join(text.split()).replace("<!--", "<! --").replace("-->", "-- >")


def read(text: str, headings: Iterable[str] = ()) -> Page:
    """Takes a page apart. `headings` are those that we write; others in the managed part are the user's."""
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True) if text.isascii() else _lines(text)
    start, stop, token = _bounds([line.strip() for line in lines])
    if start is None:
        return Page(before=text, newline=newline)
    inside = [line.rstrip("\r\n") for line in lines[start:stop]]
    bullets, strays = _contents(inside, frozenset(headings))
    return Page("".join(lines[:start]), "".join(lines[stop:]), bullets, strays, token, newline)


def write(
    page: Page, sections: Sequence[tuple[str, Sequence[tuple[str, str]]]], title: str, note: str, token: str
) -> str:
    """The page with `sections`, each a heading and its (id, text), as its managed part; the rest as it was.

    Strays move behind the managed part.
    """
    lines = [f"<!-- catmem:begin {token} -->", title, "", f"<!-- {note} -->"]
    for heading, entries in sections:
        lines += ["", f"### {heading}", ""]
        lines += [f"- {harmless(text)} <!-- {id} -->" for id, text in entries]
    managed = page.newline.join([*lines, "", END]) + page.newline
    before = page.before
    if before and not before.endswith(("\n", "\r")):
        before += page.newline
    if before.strip() and not page.bullets and not page.token:
        before += page.newline  # where we come to a page that was the user's alone
    strays = "".join(line + page.newline for line in page.strays)
    return before + managed + (page.newline + strays if strays else "") + page.after


def _lines(text: str) -> list[str]:
    """Split at line feeds alone: a page may hold U+2028 and the like."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _bounds(lines: Sequence[str]) -> tuple[int | None, int | None, str]:
    """Where the managed part begins and ends, its comments included, and the token if both of them are there.

    Where one was lost, the part reaches as far as bullets with ids do.
    """
    begins = [n for n, line in enumerate(lines) if _BEGIN.match(line)]
    ends = [n for n, line in enumerate(lines) if line == END]
    if len(begins) == len(ends) == 1 and begins[0] < ends[0]:
        opening = _BEGIN.match(lines[begins[0]])
        return begins[0], ends[0] + 1, opening["token"] if opening else ""
    marked = [n for n, line in enumerate(lines) if _BULLET.match(line) and _ID.search(line)]
    known = sorted({*begins, *ends, *marked})
    return (known[0], known[-1] + 1, "") if known else (None, None, "")


def _contents(lines: Sequence[str], headings: frozenset[str]) -> tuple[tuple[Bullet, ...], tuple[str, ...]]:
    bullets: list[Bullet] = []
    strays: list[str] = []
    heading, open_bullet = "", False
    for line in lines:
        bare = line.strip()
        match = _BULLET.match(line)
        if match:
            found = _ID.search(match["text"])
            text = _ID.sub("", match["text"]).strip()
            bullets.append(Bullet(text, found["id"] if found else "", heading))
            open_bullet = True
        elif not bare:
            open_bullet = False
        elif open_bullet and line[:1] in " \t" and not bare.startswith("<!--"):
            bullets[-1] = _continued(bullets[-1], bare)
        elif bare.startswith("#") and bare.lstrip("#").strip() in headings:
            heading, open_bullet = bare.lstrip("#").strip(), False
        elif not _is_ours(bare):
            strays.append(line)
            open_bullet = False
    return tuple(bullets), tuple(strays)


def _continued(bullet: Bullet, line: str) -> Bullet:
    found = _ID.search(line)
    text = f"{bullet.text} {_ID.sub('', line).strip()}".strip()
    return Bullet(text, bullet.id or (found["id"] if found else ""), bullet.heading)


def _is_ours(line: str) -> bool:
    """The comments of ours; a comment within the managed part is taken for one."""
    return bool(_COMMENT.match(line))
