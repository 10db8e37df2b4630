"""Which memories go into a brief, by section, the most important first (hot path).

Without a prompt the choice depends on the memories alone and not on the time, so that the same memories give the same
bytes.
"""

from __future__ import annotations

from catmem.brief.suspicion import is_order
from catmem.index import layout
from catmem.index.scope import Scope
from catmem.recall.keyword import find
from catmem.recall.query import Query
from catmem.recall.rank import Weighing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from catmem.brief.bounds import Bounds
    from catmem.index.documents import Record
    from catmem.index.reader import SearchReader

PROFILE_KINDS = ("preference", "environment", "convention", "note", "decision")
FACT_KINDS = ("convention", "environment", "preference")

# The card of a project is what stands now: beyond these it is history. Facts are bounded by the limits of the brief.
_MOST = {"profile": 20, "facts": 40, "progress": 3, "decisions": 6, "questions": 5}
# So many of each kind are looked at. A fact confirmed often is chosen over a newer one, so more than are shown.
_LOOKED_AT = 200
# Of the way from the threshold to 1 that a passage must make. There are a hundred times as many of them as memories, so
# that some share two words with any message; who searches by hand sees them from the threshold on.
_PASSAGE_DISTANCE = 0.35
# For a prompt fewer are ranked than for a search: reading 100 records is 2 ms of a hook's 40.
_RANKED = 50


class Choice:
    """`sections` are names with their records, in the order of the brief; `flagged` read like orders."""

    __slots__ = ("flagged", "sections")

    def __init__(self) -> None:
        self.sections: list[tuple[str, list[Record]]] = []
        self.flagged: list[Record] = []

    def add(self, name: str, records: Sequence[Record], most: int) -> None:
        shown = {record["id"] for _, known in self.sections for record in known}
        sound: list[Record] = []
        for record in records:
            if record["id"] in shown:
                continue
            if is_order(record["text"]):
                self.flagged.append(record)
            elif len(sound) < most:
                sound.append(record)
        self.sections.append((name, sound))


def choose(reader: SearchReader, project: str, bounds: Bounds, *, prompt: str, now: int) -> Choice:
    """For a session that begins in a project, perhaps with a prompt."""
    choice = Choice()
    choice.add("profile", _standing(reader, layout.PROFILE, PROFILE_KINDS), _MOST["profile"])
    choice.add("facts", _standing(reader, project, FACT_KINDS), _MOST["facts"])
    for name, kind in (("progress", "progress"), ("decisions", "decision"), ("questions", "question")):
        choice.add(name, _standing(reader, project, (kind,), by_age=True), _MOST[name])
    if prompt.strip():
        related = _related(reader, project, bounds, prompt, now, bounds.items * 2)
    else:
        related = _standing(reader, project, ("note", "decision", "progress", "question"), by_age=True)
    choice.add("history", related, bounds.items)
    return choice


def choose_for_prompt(
    reader: SearchReader,
    prompt: str,
    project: str,
    bounds: Bounds,
    *,
    session: str,
    shown: Collection[str],
    most: int,
    now: int,
) -> Choice:
    """What an earlier session knows on a message and this one was not told: only what is relevant enough."""
    choice = Choice()
    # As many as may be shown already or read like an order, and then enough.
    hits = _related(reader, project, bounds, prompt, now, most + min(len(shown), bounds.items) + most)
    new = [hit for hit in hits if hit["id"] not in shown and not _said_here(hit, session)]
    choice.add("prompt", new, most)
    return choice


def _related(reader: SearchReader, project: str, bounds: Bounds, prompt: str, now: int, limit: int) -> list[Record]:
    """Memories on a prompt; passages only where no memory answers."""
    query = Query(prompt)
    projects = (project, layout.PROFILE) if bounds.scoped else None

    def ask(type: str, threshold: float, past: bool = False) -> list[Record]:
        weighing = Weighing(now, bounds.half_lives, threshold)
        return find(reader, query, Scope((type,), projects, past=past), weighing, limit=limit, candidates=_RANKED)

    memories = ask("memory", bounds.threshold)
    passages = [] if memories else ask("passage", bounds.threshold + (1 - bounds.threshold) * _PASSAGE_DISTANCE)
    if not passages:
        return memories
    # What somebody said in a session is not what holds today: a sentence that was superseded must not come back raw.
    overruled = [hit for hit in ask("memory", 0.0, past=True) if hit["status"] == "superseded"]
    return [passage for passage in passages if not any(_states(passage, past) for past in overruled)]


def _said_here(hit: Record, session: str) -> bool:
    """True for what this very session said, and no other: it stands before the model already."""
    return bool(session) and hit["session"] == session and hit.get("confirmations", 1) <= 1


def _states(passage: Record, memory: Record) -> bool:
    same_message = all(passage[name] == memory[name] for name in ("project", "session", "message_id"))
    return same_message or memory["text"].casefold() in passage["text"].casefold()


def _standing(reader: SearchReader, home: str, kinds: Sequence[str], by_age: bool = False) -> list[Record]:
    """The memories of a home, pinned ones first, then by age, or by how many sessions said them and then by age.

    What an assistant has noted of its own accord is told on a prompt that it is about, never unasked: it may have
    read it anywhere.
    """
    found = {
        record["id"]: record
        for standing in ("live", "pinned")
        for record in reader.newest(project=home, kinds=kinds, limit=_LOOKED_AT, standing=standing)
        if record.get("by") != "assistant"
    }

    def importance(record: Record) -> tuple[bool, int, int, str]:
        confirmations = 0 if by_age else -record["confirmations"]
        return not record["pinned"], confirmations, -max(record["instants"], default=0), record["id"]

    return sorted(found.values(), key=importance)
