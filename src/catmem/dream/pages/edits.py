"""What a user did to a page since we wrote it: lines changed, deleted and added (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from catmem.domain.hashing import short_hash
from catmem.domain.memory import Kind, Memory
from catmem.dream.pages.contents import Contents, kind_under
from catmem.dream.pages.text import Bullet, Page, harmless

Written = Mapping[str, str]
"""What we wrote on a page last: the ids of its lines, each with the digest of its words."""


@dataclass(frozen=True, slots=True)
class Added:
    text: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Edits:
    """`changed` gives memories their new wording, `deleted` are ids, `added` new lines."""

    changed: Mapping[str, str]
    deleted: tuple[str, ...] = ()
    added: tuple[Added, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.deleted or self.added)


def written_of(contents: Contents) -> dict[str, str]:
    """What is to be known of a page that shows `contents`."""
    return {id: _digest(text) for _, entries in contents.sections for id, text in entries}


def token_of(written: Written) -> str:
    """What a page says of itself, so that it is known whether `written` is of this very page."""
    return short_hash("\n".join(f"{id} {digest}" for id, digest in sorted(written.items())), 4)


def edits_of(page: Page, written: Written, memories: Mapping[str, Memory], *, profile: bool) -> Edits:
    """The user's changes to a page.

    written    see there; empty if that is not known any more: then nothing counts as deleted
    memories   all memories by id, also those that are not in force

    A line that says what we wrote, or what stands now, is no change, though the memory may have moved on since. A
    copied line with the id of another is a new line.
    """
    changed: dict[str, str] = {}
    added: list[Added] = []
    present: set[str] = set()
    standing = {harmless(memory.now.text) for memory in memories.values() if memory.now.status == "live"}
    for bullet in page.bullets:
        memory = memories.get(bullet.id)
        if not bullet.text:
            continue
        if memory is not None and bullet.id not in present:
            present.add(bullet.id)
            if _is_known(bullet, memory, written):
                continue
            if memory.now.status == "live":
                changed[bullet.id] = bullet.text
                continue
        elif bullet.id and bullet.id in written and _digest(bullet.text) == written[bullet.id]:
            continue  # of a memory that is gone without a trace
        if harmless(bullet.text) not in standing:
            added.append(Added(bullet.text, kind_under(bullet.heading, profile=profile)))
            standing.add(harmless(bullet.text))
    deleted = _deleted(page, written, memories, present) if page.token == token_of(written) else ()
    return Edits(changed, deleted, tuple(added))


def _is_known(bullet: Bullet, memory: Memory, written: Written) -> bool:
    """True if the words are what we wrote (where that is not known: any wording so far) or what stands now."""
    if memory.now.status == "forgotten":
        return bullet.id not in written or _digest(bullet.text) == written[bullet.id]
    wordings: Iterable[str] = (revision.text for revision in memory.revisions)
    if bullet.id in written:
        wordings = (memory.now.text,)
    return harmless(bullet.text) in set(map(harmless, wordings)) or _digest(bullet.text) == written.get(bullet.id)


def _deleted(page: Page, written: Written, memories: Mapping[str, Memory], present: set[str]) -> tuple[str, ...]:
    """What stood there, is missing, and still says what stood there: a line of older words was deleted with them."""
    words = {_digest(bullet.text) for bullet in page.bullets}
    return tuple(
        id
        for id, digest in sorted(written.items())
        if id not in present
        and digest not in words  # it only lost its comment
        and (memory := memories.get(id)) is not None
        and memory.now.status == "live"
        and _digest(memory.now.text) == digest
    )


def _digest(text: str) -> str:
    return short_hash(harmless(text), 8)
