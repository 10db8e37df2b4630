"""Text that must not be kept: what the user marked `<private>`, and the blocks that we put in front of a session.

A tag that merely is mentioned, in backticks and alone (`` `<private>` ``), is text and not a tag.
"""

from __future__ import annotations

OUR_TAG = "catmem-memory"
PRIVATE_TAG = "private"

# A tag longer than this is text. It bounds what a stream must hold back.
_LONGEST_TAG = 256
# Taking a block out may put a cut-off one at the beginning of its line; more rounds only a contrived text needs.
_ROUNDS = 4
_BLANKS = " \t\r\n"


class PrivateStream:
    """Removes private parts from text that arrives in pieces; any cutting into pieces gives the same whole.

    `feed` returns what is surely public so far, `close` the rest. A tag may be split anywhere. Regions nest; one that
    is never closed reaches to the end.
    """

    def __init__(self) -> None:
        self._held = ""
        self._before = ""
        self._depth = 0

    def feed(self, chunk: str) -> str:
        """Take the next piece, return the public text that is certain by now."""
        self._held += chunk
        return self._drain(at_end=False)

    def close(self) -> str:
        """Return what was held back: the message is over, so half a tag is only text."""
        rest = self._drain(at_end=True)
        self._held, self._before, self._depth = "", "", 0
        return rest

    def _drain(self, at_end: bool) -> str:
        kept: list[str] = []
        position = 0
        while True:
            start = self._held.find("<", position)
            if start < 0:
                self._take(kept, len(self._held), position)
                self._held = ""
                return "".join(kept)
            self._take(kept, start, position)
            end, step = _read_tag(self._held, start, PRIVATE_TAG, at_end)
            if step is None:  # more text decides
                self._held = self._held[start:]
                return "".join(kept)
            if step == 0 or self._mentioned(end) or (step < 0 and self._depth == 0):
                end = start + 1  # text
                self._take(kept, end, start)
            elif step != _EMPTY:
                self._depth += step
                self._before = ">"
            position = end

    def _take(self, kept: list[str], end: int, start: int) -> None:
        if end > start:
            self._before = self._held[end - 1]
            if self._depth == 0:
                kept.append(self._held[start:end])

    def _mentioned(self, end: int) -> bool:
        return self._before == "`" and self._held.startswith("`", end)


_EMPTY = 2  # what `_read_tag` calls `<private/>`: a tag without a region


def _read_tag(text: str, start: int, name: str, at_end: bool) -> tuple[int, int | None]:
    """Read a tag at `start`. Returns its end and +1 (opens), -1 (closes), 2 (empty), 0 (text), None (cannot say yet).

    One character after the tag is needed, too: a backtick there makes it a mention.
    """
    undecided = (start, 0 if at_end else None)
    position, step = start + 1, 1
    limit = min(len(text), start + _LONGEST_TAG)
    while position < limit and (text[position] in _BLANKS or (text[position] == "/" and step == 1)):
        if text[position] == "/":
            step = -1
        position += 1
    spelled = text[position : position + len(name)]
    if not name.startswith(spelled.lower()):
        return start, 0
    position += len(name)
    if position >= len(text):
        return undecided if position < start + _LONGEST_TAG else (start, 0)
    if text[position] not in _BLANKS + "/>":
        return start, 0
    while position < limit and text[position] not in "<>":
        position += 1
    if position >= limit:
        return undecided if limit < start + _LONGEST_TAG else (start, 0)
    if text[position] == "<":
        return start, 0
    if position + 1 >= len(text) and not at_end:
        return undecided
    if step == 1 and text[position - 1] == "/":
        step = _EMPTY
    return position + 1, step


def strip_private(text: str) -> str:
    """Return `text` without its `<private>…</private>` parts.

    Upper case, attributes, blanks inside the tag and nesting are understood; an unclosed part reaches to the end.
    """
    if "<" not in text:
        return text
    stream = PrivateStream()
    return stream.feed(text) + stream.close()


def strip_injected(text: str) -> str:
    """Return `text` without the `<catmem-memory …>…</catmem-memory>` blocks that we injected, wherever they stand.

    A block that was cut off (a host shortens long context) reaches to the end, if its tag begins or ends a line as
    ours do; a tag that only is named within a sentence is left, so that no typed word is lost with it.
    """
    for _ in range(_ROUNDS):
        if OUR_TAG not in text.lower() or (stripped := _without_blocks(text)) == text:
            break
        text = stripped
    return text


def _without_blocks(text: str) -> str:
    tags = _tags(text, OUR_TAG)
    kept: list[str] = []
    position = 0
    for place, (start, end, step) in enumerate(tags):
        if start < position or step < 0:
            continue
        close = end if step == _EMPTY else _closing(tags, place)
        if close is None:
            if not _stands_alone(text, start, end):
                continue
            close = len(text)
        kept.append(text[position:start])
        position = close
    kept.append(text[position:])
    return "".join(kept)


def _closing(tags: list[tuple[int, int, int]], place: int) -> int | None:
    """The end of the next closing tag. Our blocks hold none of their own, so the first one is it."""
    for _, end, step in tags[place + 1 :]:
        if step < 0:
            return end
    return None


def _tags(text: str, name: str) -> list[tuple[int, int, int]]:
    """List the tags of that name that are not mere mentions: start, end, step."""
    found, start = [], 0
    while (start := text.find("<", start)) >= 0:
        end, step = _read_tag(text, start, name, at_end=True)
        mentioned = text[max(start - 1, 0) : start] == "`" and text.startswith("`", end)
        if step and not mentioned:
            found.append((start, end, step))
            start = end
        else:
            start += 1
    return found


def _stands_alone(text: str, start: int, end: int) -> bool:
    line_start = text.rfind("\n", 0, start) + 1
    return not text[line_start:start].strip() or text[end : end + 1] in ("\n", "\r")
