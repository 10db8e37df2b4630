"""From sessions to the ledger: what is due is distilled, one session at a time, each in one commit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from catmem.distil.distiller import RECIPE, propose
from catmem.domain.change import Change, Job
from catmem.domain.clock import Clock, now, seconds_of, system_clock
from catmem.domain.errors import CatmemError, LockBusy
from catmem.domain.message import Message, is_said
from catmem.domain.session import SessionRef
from catmem.sessions.history import History
from catmem.store.jobs import JobQueue, PendingSession
from catmem.store.memories import MemoryStore

# What is looked at together. A session is bounded to so many messages (`max_messages`); one that was imported may be a
# hundred times as long, and its sentences would fill the memory.
MOST_MESSAGES = 5_000
MOST_CHARACTERS = 4_000_000
# Looking takes a second, and meanwhile the assistant may have had the very same sentence remembered: then it is looked
# at again. Where many write at once a memory too many is the lesser evil.
_LOOKS = 3


@dataclass(frozen=True, slots=True)
class Distilled:
    """How many sessions were distilled or failed in a run, and how many still wait."""

    distilled: int
    failed: int
    pending: int


class DistilWorker:
    """Distils sessions that have ended, gone idle, or are named; a failure costs that session an attempt, no more."""

    def __init__(
        self,
        history: History,
        store: MemoryStore,
        queue: JobQueue,
        *,
        idle_minutes: int,
        clock: Clock = system_clock,
    ) -> None:
        self._history = history
        self._store = store
        self._queue = queue
        self._idle_minutes = idle_minutes
        self._clock = clock

    def run(
        self,
        *,
        everything: bool = False,
        named: Sequence[SessionRef] = (),
        stop: Callable[[], bool] = lambda: False,
        progress: Callable[[PendingSession], None] = lambda job: None,
    ) -> Distilled:
        """Distils all that is due (`everything`: also sessions in use, and failed ones before their time; never parked ones).

        `stop` is asked between sessions; what is left then is found again by the next run.
        """
        self._store.catch_up()
        distilled = failed = 0
        for job in self._queue.pending(self._history.headers()):
            if job.parked or not (everything or job.ref in named or self._is_due(job)):
                continue
            if stop():
                break
            progress(job)
            try:
                if self.distil(job, stop=stop):
                    distilled += 1
            except LockBusy:
                # Somebody else writes for a long time; the next session would wait as long.
                break
            except CatmemError as error:
                failed += 1
                self._queue.failed(job, f"{type(error).__name__}: {error}", now(self._clock))
        return Distilled(distilled, failed, len(self.pending()))

    def pending(self) -> list[PendingSession]:
        """Every session that is not distilled to its end, due or not."""
        return self._queue.pending(self._history.headers())

    def distil(self, job: PendingSession, *, stop: Callable[[], bool] = lambda: False) -> bool:
        """Distils one session to its present end; False if it was stopped before.

        A part is settled in one line of the ledger: memories, evidence and progress. Most sessions are one part.
        """
        settled_to = job.distilled_to
        for messages, is_last in _parts(self._history.talk(job.ref), settled_to + 1):
            newest = messages[-1].id if messages else 0
            to = max(newest, job.header.last_id) if is_last else newest
            self._settle(job.ref, messages, settled_to + 1, to)
            settled_to = to
            if not is_last and stop():
                return False
        return True

    def _settle(self, ref: SessionRef, messages: Sequence[Message], first_id: int, last_id: int) -> None:
        """What was settled by the messages from `first_id` on, of those that are looked at, into the ledger."""

        def proposed() -> tuple[Sequence[Change], Mapping[str, int]]:
            for _ in range(_LOOKS):
                turn = self._store.turn()
                present = self._store.live(ref.project)
                proposal = propose(ref, messages, first_id, present)
                if self._store.turn() == turn:
                    break
            progress = Job(ref.project, ref.key, first_id, last_id, RECIPE)
            changes = [
                Change(
                    0, "", "", "distilled", "distiller", job=progress, claims=proposal.claims, digest=proposal.digest
                )
            ]
            if proposal.retired:
                changes.append(Change(0, "", "", "retire", "distiller", why="taken back", ids=tuple(proposal.retired)))
            named = {id for claim in proposal.claims for id in (claim.id, *claim.supersedes)} | set(proposal.retired)
            return changes, {memory.id: memory.version for memory in present if memory.id in named}

        self._store.commit_retrying(proposed)

    def _is_due(self, job: PendingSession) -> bool:
        moment = self._clock()
        if job.not_before and seconds_of(job.not_before) > moment:
            return False
        if job.header.metadata.get("ended"):
            return True
        return moment - seconds_of(job.header.updated_at) >= self._idle_minutes * 60


def _parts(messages: Iterable[Message], first_id: int) -> Iterator[tuple[list[Message], bool]]:
    """What was said of a session, as much at a time as is looked at together; True with the last part.

    The newer half of a part is looked back upon from the next.
    """
    part: deque[Message] = deque()
    size, fresh = 0, False
    for message in filter(is_said, messages):
        if part and (len(part) >= MOST_MESSAGES or size + len(message.content) > MOST_CHARACTERS):
            if fresh:
                yield list(part), False
            fresh = False
            while part and (len(part) > MOST_MESSAGES // 2 or size > MOST_CHARACTERS // 2):
                size -= len(part.popleft().content)
        part.append(message)
        size += len(message.content)
        fresh = fresh or message.id >= first_id
    yield list(part), True
