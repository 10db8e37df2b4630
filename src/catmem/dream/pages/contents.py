"""What stands on a page: which memories, under which heading, in which order, in both languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from catmem.domain.memory import Kind, Memory

# The titles are part of the format, whatever the language: other tools look for them.
PROFILE_TITLE, PROJECT_TITLE = "## User Profile", "## Project Context"

# What a person reads in one sitting, and about what an assistant loads of such a file by itself (its first 200 lines).
MOST_BULLETS = 150

_ORDER: tuple[Kind, ...] = ("preference", "environment", "convention", "decision", "question", "progress", "note")
_HEADINGS: Mapping[str, Mapping[Kind, str]] = {
    "en": {
        "preference": "Preferences",
        "environment": "Environment",
        "convention": "Conventions",
        "decision": "Decisions",
        "question": "Open questions",
        "progress": "Progress",
        "note": "Notes",
    },
    "zh": {
        "preference": "偏好",
        "environment": "环境",
        "convention": "约定",
        "decision": "决定",
        "question": "待定",
        "progress": "进展",
        "note": "笔记",
    },
}
_NOTES = {
    "en": "kept by catmem: change a line and it is remembered so, delete it and it is forgotten, add one and it is kept",
    "zh": "由 catmem 维护：改一行即按此记住，删一行即忘记，加一行即保留",
}
_MORE = {"en": "{} more are kept; `mem recall` finds them", "zh": "另有 {} 条未列出；可用 `mem recall` 查找"}

ALL_HEADINGS = frozenset(
    {heading for headings in _HEADINGS.values() for heading in headings.values()}
    | {PROFILE_TITLE.lstrip("# "), PROJECT_TITLE.lstrip("# ")}
)


@dataclass(frozen=True, slots=True)
class Contents:
    """`sections` are headings with their (id, text); `note` is the comment on top of them."""

    title: str
    note: str
    sections: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(id for _, entries in self.sections for id, _ in entries)


def contents_of(memories: Iterable[Memory], *, profile: bool, language: str) -> Contents:
    """What a page shows of these memories: the same memories give the same bytes.

    Beyond MOST_BULLETS the least needed are left out, and the note says how many: they stay in the memory. What an
    assistant noted of its own accord is on no page: other assistants load these as their user's rules.
    """
    ranked = sorted((memory for memory in memories if memory.now.by != "assistant"), key=_need)
    listed, left = ranked[:MOST_BULLETS], len(ranked[MOST_BULLETS:])
    sections = []
    for kind in _ORDER:
        entries = sorted(
            (m for m in listed if m.now.kind == kind), key=lambda m: (not m.now.pinned, m.created_at, m.id)
        )
        if entries:
            sections.append((_HEADINGS[language][kind], tuple((m.id, m.now.text) for m in entries)))
    note = _NOTES[language] + (f"; {_MORE[language].format(left)}" if left else "")
    return Contents(PROFILE_TITLE if profile else PROJECT_TITLE, note, tuple(sections))


def kind_under(heading: str, *, profile: bool) -> Kind:
    """The kind of a line that the user wrote under a heading."""
    for headings in _HEADINGS.values():
        for kind, name in headings.items():
            if name == heading:
                return kind
    return "preference" if profile else "note"


def _need(memory: Memory) -> tuple[bool, bool, int, tuple[int, ...], str]:
    """What the user pinned or wrote, then hard facts, then what was said often, then what is new."""
    now = memory.now
    hard = now.kind in ("preference", "environment", "convention")
    return (not (now.pinned or now.by == "user"), not hard, -now.confirmations, _reversed(memory.updated_at), memory.id)


def _reversed(stamp: str) -> tuple[int, ...]:
    return tuple(-ord(character) for character in stamp)
