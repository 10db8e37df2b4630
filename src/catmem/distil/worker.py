"""From sessions to the ledger: what is due is distilled, one session at a time, each in one commit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from catmem.distil.distiller import RECIPES, Proposal, judged, propose, read
from catmem.distil.model.selector import Heard, Selector
from catmem.distil.model.trigger import changed_files, trigger_of
from catmem.domain.change import Change, Job
from catmem.domain.clock import Clock, now, seconds_of, system_clock
from catmem.domain.errors import CatmemError, LockBusy
from catmem.domain.memory import Memory
from catmem.domain.message import Message, is_said
from catmem.domain.session import SessionHeader, SessionRef
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


@dataclass(frozen=True, slots=True)
class Settled:
    """A part of a session that was committed: what it left, and what the model had to do with it."""

    proposal: Proposal
    heard: Heard


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
        selector: Selector | None = None,
    ) -> None:
        """`selector` asks the model, where one is configured."""
        self._history = history
        self._store = store
        self._queue = queue
        self._idle_minutes = idle_minutes
        self._clock = clock
        self._selector = selector

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
        waiting = self.pending()
        if self._selector:
            self._selector.tidy({job.ref for job in waiting})
        for job in waiting:
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
        return not any(stop() for _, is_last in self._settled(job, job.distilled_to) if not is_last)

    def again(self, header: SessionHeader) -> list[Settled]:
        """Distils a session anew from its first message, with the model if there is one."""
        job, ref = PendingSession(header, 0), header.ref
        settled = [part for part, _ in self._settled(job, 0)]
        if self._selector and all(part.heard.outcome == "model" for part in settled):
            self._selector.record.made_good([ref])
        return settled

    def again_where_missed(self, stop: Callable[[], bool] = lambda: False) -> int:
        """Distils anew what was distilled without the model since it failed; returns in how many it was heard now."""
        if self._selector is None or not self._selector.asks():
            return 0
        missed = self._selector.record.missed()
        headers = {header.ref: header for header in self._history.headers() if header.ref in missed}
        self._selector.record.made_good(missed - headers.keys())  # They are no more.
        good = 0
        for _, header in sorted(headers.items()):
            if stop():
                break
            good += self._was_heard(header)
        return good

    def again_where_spent(self, stop: Callable[[], bool] = lambda: False) -> int:
        """The same where only the budget was used up, for as long as there is one: nobody need ask for it."""
        if self._selector is None or not self._selector.asks():
            return 0
        good = 0
        for ref in self._selector.record.missed_for("spent"):
            header = next((header for header in self._history.headers(ref.project) if header.ref == ref), None)
            if stop() or self._selector.has_given_up():
                break
            if header is not None:
                good += self._was_heard(header)
            else:
                self._selector.record.made_good([ref])
        return good

    def _was_heard(self, header: SessionHeader) -> bool:
        return all(part.heard.outcome == "model" for part in self.again(header))

    def _settled(self, job: PendingSession, settled_to: int) -> Iterator[tuple[Settled, bool]]:
        """Each part as soon as it is committed; True with the last one."""
        over = self._is_over(job)
        for messages, is_last in _parts(self._history.talk(job.ref), settled_to + 1):
            newest = messages[-1].id if messages else 0
            to = max(newest, job.header.last_id) if is_last else newest
            begun = self._selector.begun(job.ref, settled_to + 1) if self._selector else None
            if begun and begun.last_id < to:
                # What a killed worker asked about is settled by itself: with what came later it were another question.
                asked = [message for message in messages if message.id <= begun.last_id]
                yield self._settle(job.ref, asked, settled_to + 1, begun.last_id, over), False
                settled_to = begun.last_id
            yield self._settle(job.ref, messages, settled_to + 1, to, over), is_last
            settled_to = to

    def _settle(self, ref: SessionRef, messages: Sequence[Message], first_id: int, last_id: int, over: bool) -> Settled:
        """What was settled by the messages from `first_id` on, of those that are looked at, into the ledger."""
        sentences = read(messages)
        heard = Heard()
        if self._selector:
            trigger = trigger_of(over, messages, sentences, first_id)
            heard = self._selector.select(ref, sentences, judged(sentences), first_id, last_id, trigger)
        proposal: Proposal

        def proposed() -> tuple[Sequence[Change], Mapping[str, int]]:
            nonlocal proposal
            for _ in range(_LOOKS):
                turn = self._store.turn()
                present = self._store.live(ref.project)
                proposal = propose(ref, sentences, first_id, present, selection=heard.selection)
                if self._store.turn() == turn:
                    break
            return _changes(proposal, Job(ref.project, ref.key, first_id, last_id, RECIPES[heard.outcome]), present)

        self._store.commit_retrying(proposed)
        if self._selector:
            self._selector.settled(ref)
        return Settled(proposal, heard)

    def _is_over(self, job: PendingSession) -> bool:
        """Whether a session has ended, or nothing has been said in it for so long that it has."""
        if job.header.metadata.get("ended"):
            return True
        return self._clock() - seconds_of(job.header.updated_at) >= self._idle_minutes * 60

    def _is_due(self, job: PendingSession) -> bool:
        if job.not_before and seconds_of(job.not_before) > self._clock():
            return False
        return self._is_over(job)


def _changes(
    proposal: Proposal, progress: Job, present: Sequence[Memory]
) -> tuple[Sequence[Change], Mapping[str, int]]:
    """The lines of the ledger, and the versions of the memories that they rest on.

    The one that says how far it came is the last: an append that was cut off is made up for.
    """
    changes = []
    if proposal.retired:
        changes.append(Change(0, "", "", "retire", "distiller", why="taken back", ids=tuple(proposal.retired)))
    changes.append(
        Change(0, "", "", "distilled", "distiller", job=progress, claims=proposal.claims, digest=proposal.digest)
    )
    named = {id for claim in proposal.claims for id in (claim.id, *claim.supersedes)} | set(proposal.retired)
    return changes, {memory.id: memory.version for memory in present if memory.id in named}


def _parts(messages: Iterable[Message], first_id: int) -> Iterator[tuple[list[Message], bool]]:
    """What was said of a session and done to files, as much at a time as is looked at together; True with the last part.

    The newer half of a part is looked back upon from the next.
    """
    part: deque[Message] = deque()
    size, fresh = 0, False
    for message in messages:
        if not (is_said(message) or changed_files(message)):
            continue
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
