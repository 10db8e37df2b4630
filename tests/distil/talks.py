"""Small talks for the tests: messages from lines, and the steps that distilling and folding are."""

from __future__ import annotations

from collections.abc import Sequence

from catmem.distil.distiller import Proposal, propose, read
from catmem.domain.change import Change, Job
from catmem.domain.fold import fold
from catmem.domain.memory import Memory
from catmem.domain.message import Message, Role
from catmem.domain.session import SessionRef

PROJECT = "orchard"
_ROLES: dict[str, Role] = {"U": "user", "A": "assistant", "T": "tool"}


def talk(*lines: str, day: int = 1, session: str = "s1") -> list[Message]:
    """`U: …` and `A: …` lines as messages of one day."""
    return [
        Message(_ROLES[line[0]], line[3:], f"2026-01-{day:02}T10:00:00Z", f"{session}-{n}", n, session)
        for n, line in enumerate(lines, 1)
    ]


def distil(
    messages: Sequence[Message], present: Sequence[Memory] = (), *, new_from_id: int = 1, session: str = "s1"
) -> Proposal:
    return propose(SessionRef(PROJECT, session), read(messages), new_from_id, present)


class Remembered:
    """A ledger in the process's memory: sessions are distilled into it one after the other."""

    def __init__(self) -> None:
        self.changes: list[Change] = []

    def session(self, *lines: str, day: int) -> Proposal:
        key = f"s{day}"
        messages = talk(*lines, day=day, session=key)
        proposal = distil(messages, self.live(), session=key)
        at = messages[-1].timestamp
        job = Job(PROJECT, key, 1, len(messages), "rules/1")
        self._tell(Change(0, at, "", "distilled", "distiller", job=job, claims=proposal.claims))
        if proposal.retired:
            self._tell(Change(0, at, "", "retire", "distiller", ids=proposal.retired))
        return proposal

    def pin(self, id: str) -> None:
        self._tell(Change(0, "2026-01-01T12:00:00Z", "", "pin", "user", ids=(id,)))

    def all(self) -> list[Memory]:
        ids = sorted({id for change in self.changes for id in change.touches()})
        return [m for m in (fold(id, [c for c in self.changes if id in c.touches()]) for id in ids) if m]

    def live(self) -> list[Memory]:
        return [m for m in self.all() if m.now.status == "live"]

    def texts(self) -> list[str]:
        return [m.now.text for m in self.live()]

    def gone(self) -> list[str]:
        return [r.text for m in self.all() for r in m.revisions if r.status != "live"]

    def _tell(self, change: Change) -> None:
        number = len(self.changes) + 1
        self.changes.append(
            Change(
                number, change.at, "test", change.op, change.by, job=change.job, claims=change.claims, ids=change.ids
            )
        )
