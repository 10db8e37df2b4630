"""Which memories go into a brief, by section, the most important first (hot path).

Without a prompt the choice depends on the memories alone and not on the time, so that the same memories give the same
bytes.
"""

from __future__ import annotations

from catmem.brief.earlier import is_past, with_successors
from catmem.brief.standing import Standing
from catmem.brief.suspicion import is_order
from catmem.index import layout
from catmem.index.scope import Scope
from catmem.recall.keyword import ranked
from catmem.recall.moments import Span, may_name_a_day
from catmem.recall.past import is_about_the_past, is_told_as_past
from catmem.recall.query import Query
from catmem.recall.rank import Weighing, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

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

    def add(self, name: str, records: Iterable[Record], most: int) -> None:
        shown = {_told(record) for _, known in self.sections for record in known}
        sound: list[Record] = []
        for record in records:
            if len(sound) == most:
                break
            if _told(record) in shown:
                continue
            shown.add(_told(record))
            if is_order(record["text"]):
                self.flagged.append(record)
            else:
                sound.append(record)
        self.sections.append((name, sound))


def choose(reader: SearchReader, project: str, bounds: Bounds, *, prompt: str, now: int) -> Choice:
    """For a session that begins in a project, perhaps with a prompt."""
    sections = {
        "profile": _in_force(reader, layout.PROFILE, PROFILE_KINDS),
        "facts": _in_force(reader, project, FACT_KINDS),
        "progress": _in_force(reader, project, ("progress",), by_age=True),
        "decisions": _in_force(reader, project, ("decision",), by_age=True),
        "questions": _in_force(reader, project, ("question",), by_age=True),
    }
    if prompt.strip():
        related = _related(reader, project, bounds, prompt, now, bounds.items * 2)
    else:
        related = _in_force(reader, project, ("note", "decision", "progress", "question"), by_age=True)
    everything = [record for records in (*sections.values(), related) for record in records]
    standing = Standing(everything, None if bounds.scoped else project)
    choice = Choice()
    for name, records in sections.items():
        # Asked one by one: of a thousand statements some fifty are shown.
        choice.add(name, filter(standing.stands, records), _MOST[name])
    choice.add("history", filter(standing.stands, related), bounds.items)
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
    # What held before is asked for; that it was told once is no reason to keep it back.
    new = [hit for hit in hits if is_past(hit) or not (hit["id"] in shown or _said_here(hit, session))]
    choice.add("prompt", new, most)
    return choice


def _related(reader: SearchReader, project: str, bounds: Bounds, prompt: str, now: int, limit: int) -> list[Record]:
    """Memories on a prompt; passages only where no memory answers.

    Of memories that contradict each other it is the one that stands, however well the prompt fits the other. A question
    about the past has the superseded ones too, below what took their place. A time that the prompt names weighs and does
    not bound: the tests that broke yesterday are run by a command that was told in spring.
    """
    query = Query(prompt)
    if may_name_a_day(prompt):
        from catmem.recall.period import bare_period, bounds_of, period_in
        from catmem.recall.then import said_then

        if period := bare_period(prompt, now / 1000, searched=False):
            homes = (project, layout.PROFILE) if bounds.scoped else (None,)
            return said_then(reader, bounds_of(period), homes=homes, limit=limit)
        rest, period = period_in(prompt, now / 1000)
        if period:
            query = Query(rest)
            query.moments.append(Span(*bounds_of(period)))
    about_the_past = is_about_the_past(prompt) or (bool(query.moments) and is_told_as_past(prompt))
    projects = (project, layout.PROFILE) if bounds.scoped else None

    def ask(type: str, threshold: float, past: bool = False) -> list[Record]:
        weighing = Weighing(now, bounds.half_lives, threshold)
        return ranked(reader, query, Scope((type,), projects, past=past), weighing, candidates=_RANKED)

    everything = ask("memory", 0.0, past=about_the_past)
    relevant = [hit for hit in everything if hit["relevance"] >= bounds.threshold]
    if relevant:
        standing = Standing(everything, None if bounds.scoped else project)
        memories = fold(map(standing.of, relevant), limit)
        return with_successors(reader, memories) if about_the_past else memories
    passages = ask("passage", bounds.threshold + (1 - bounds.threshold) * _PASSAGE_DISTANCE)
    if not passages:
        return []
    # What somebody said in a session is not what holds today: a sentence that was superseded must not come back raw.
    overruled = list(filter(is_past, everything if about_the_past else ask("memory", 0.0, past=True)))
    return fold((p for p in passages if not any(_states(p, past) for past in overruled)), limit)


def _said_here(hit: Record, session: str) -> bool:
    """True for what this very session said, and no other: it stands before the model already."""
    return bool(session) and hit["session"] == session and hit.get("confirmations", 1) <= 1


def _told(record: Record) -> tuple[str, str]:
    """What a line of a brief is known by: of one memory its present statement and earlier ones may be told."""
    return record["id"], record["text"] if is_past(record) else ""


def _states(passage: Record, memory: Record) -> bool:
    same_message = all(passage[name] == memory[name] for name in ("project", "session", "message_id"))
    return same_message or memory["text"].casefold() in passage["text"].casefold()


def _in_force(reader: SearchReader, home: str, kinds: Sequence[str], by_age: bool = False) -> list[Record]:
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
