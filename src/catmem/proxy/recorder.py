"""The thread that keeps what passed: the only one of a proxy that writes sessions.

It takes whatever has come meanwhile and appends it session by session, at once when it has time, and at the latest
when `archive_batch_size` messages or one second have come together.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catmem.capture.proxied import ProxiedTurns, Turn, put_aside
from catmem.domain.clock import now
from catmem.domain.errors import CatmemError
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.domain.triggers import changes_files, crosses_count, is_strong
from catmem.inject.worker import is_time_for_changes, wait_for_worker
from catmem.proxy.conversations import Conversations
from catmem.proxy.exchange import Exchange
from catmem.proxy.workers import Workers
from catmem.sessions.history import History
from catmem.settings.places import Places

if TYPE_CHECKING:
    from catmem.sessions.door import Redact

_LONGEST_WAIT = 1.0
# A session that others hold is tried again this often; then the worker is to take it in.
_TRIES = 30
# Answers that wait to be read; beyond it the machine is so far behind that memory is in danger.
_MOST_WAITING_BYTES = 512 << 20
# An answer is heard in milliseconds; the disk may hold that up.
_LISTENING_SECONDS = 1.0
# The worker that distils what was just said is done within a fraction of this.
_SETTLING_SECONDS = 1.5
# Where it was not, sessions that begin within this time do without what it brings.
_BUSY_SECONDS = 5.0


@dataclass(slots=True)
class _Batch:
    """What is to be appended to one session."""

    messages: list[Message] = field(default_factory=list)
    client: str = ""
    cwd: str = ""
    tries: int = 0
    again: float = 0.0


@dataclass(frozen=True, slots=True)
class _Ended:
    """Nobody is connected any more that spoke in these sessions; None for all of them."""

    refs: frozenset[SessionRef] | None


@dataclass(frozen=True, slots=True)
class _Flush:
    """Somebody waits until what was put before is on disk, and, if `work`, a worker is at it."""

    done: threading.Event
    work: bool


@dataclass(frozen=True, slots=True)
class _Heard:
    """Somebody waits until what was put before was heard."""

    done: threading.Event


class Recorder:
    """`put` and `ended` never wait. `history` is this thread's own.

    open      the sessions that something was taken of, and whose programs have not left
    distils   whether workers are started that distil what was said
    """

    def __init__(
        self,
        history: History,
        conversations: Conversations,
        fault: Callable[[Exception], None],
        *,
        redact: Redact,
        batch_size: int = 200,
        held: bool = False,
    ) -> None:
        self.open: set[SessionRef] = set()
        self.distils = True
        self._history = history
        self._places = Places(str(history.root))
        self._conversations = conversations
        self._fault = fault
        self._redact = redact
        self._batch_size = batch_size
        self._held = held
        self._turns = ProxiedTurns(history, pure=held)
        self._queue: queue.SimpleQueue[Exchange | _Ended | _Flush | _Heard | None] = queue.SimpleQueue()
        self._lock = threading.Lock()  # around `_waiting`, which more than one thread changes
        self._waiting = 0
        self._batches: dict[SessionRef, _Batch] = {}
        self._since = 0.0
        self._workers = Workers(self._places)
        self._busy_until = 0.0
        self._thread = threading.Thread(target=self._run, name="catmem-recorder", daemon=True)

    def start(self, *, work: bool = False) -> None:
        """Begins; `work`: what earlier sessions left undone is done meanwhile."""
        if work and self.distils:
            self._workers.start()
        self._thread.start()

    def put(self, exchange: Exchange) -> None:
        """Takes an exchange whose answer has ended."""
        with self._lock:
            fits = self._waiting + exchange.size <= _MOST_WAITING_BYTES
            self._waiting += exchange.size if fits else 0
        if fits:
            self._queue.put(exchange)
        else:
            self._fault(MemoryError("too many answers wait to be recorded"))

    def ended(self, refs: frozenset[SessionRef]) -> None:
        """The program of these sessions has left."""
        self._queue.put(_Ended(refs))

    def settle(self, seconds: float = _SETTLING_SECONDS) -> None:
        """Waits until what was said before is written and distilled, but no longer than this."""
        if time.monotonic() < self._busy_until:
            return
        until = time.monotonic() + seconds
        self.flush(seconds, work=True)
        wait_for_worker(self._places, until - time.monotonic())
        if time.monotonic() > until:
            # There is much to do; who comes next need not find that out again.
            self._busy_until = time.monotonic() + _BUSY_SECONDS

    def listen(self, seconds: float = _LISTENING_SECONDS) -> None:
        """Waits until every answer that was put so far was heard, but no longer than this."""
        done = threading.Event()
        self._queue.put(_Heard(done))
        done.wait(seconds)

    def flush(self, seconds: float, *, work: bool = False) -> bool:
        """Waits until all that was put so far is on disk; false if that takes longer."""
        done = threading.Event()
        self._queue.put(_Flush(done, work))
        return done.wait(seconds)

    def release(self) -> None:
        """What was held in memory only is kept after all."""
        self._held = False

    def stop(self, seconds: float = 10.0) -> None:
        """Writes what is there, marks the sessions as ended, and ends the thread."""
        self._queue.put(_Ended(None))
        self._queue.put(None)
        self._thread.join(seconds)

    # The thread

    def _run(self) -> None:
        running = True
        while running:
            try:
                item = self._queue.get(timeout=self._patience())
                running = self._take(item)
            except queue.Empty:
                pass
            except Exception as error:
                self._fault(error)
            if self._queue.empty() or self._is_due():
                self._write()
            self._workers.start_if_due()
        self._write(last=True)
        self._workers.start_if_due(at_once=True)

    def _take(self, item: Exchange | _Ended | _Flush | _Heard | None) -> bool:
        if item is None:
            return False
        if isinstance(item, Exchange):
            with self._lock:
                self._waiting -= item.size
            self._hear(item)
        elif isinstance(item, _Heard):
            item.done.set()
        elif isinstance(item, _Flush):
            self._write()
            self._workers.start_if_due(at_once=item.work)
            item.done.set()
        else:
            self._write()
            self._end(self.open if item.refs is None else self.open & item.refs)
        return True

    def _hear(self, exchange: Exchange) -> None:
        talk = exchange.talk
        answer = exchange.answer() if exchange.succeeded else None
        if answer is None or not answer.complete:
            if talk.opening is not None:
                self._conversations.failed(talk.ref.key, talk.opening)
            return
        if talk.opening is not None:
            self._conversations.answered(talk.ref.key, talk.opening, answer.text, answer.calls, answer.id)
        turn = talk.turn(answer, exchange.answered_at or now())
        ours = self._gather(turn)
        if not answer.calls and (is_strong(talk.said) or (ours and self._is_time_after(turn))):
            self._want_work(talk.ref)

    def _is_time_after(self, turn: Turn) -> bool:
        """Whether files were changed in a turn that is over, and not only just in another one."""
        changed = any(changes_files(call.name) for step in turn.steps for call in step.calls)
        return changed and self.distils and not self._held and is_time_for_changes(self._places, turn.ref.key)

    def _gather(self, turn: Turn) -> bool:
        """Takes what is new of a turn; false if nothing is, or another door has it."""
        found = self._turns.news(turn)
        if not found:
            return False
        self.open.add(turn.ref)
        batch = self._batches.setdefault(turn.ref, _Batch())
        batch.messages += found
        batch.client, batch.cwd = turn.client, turn.cwd or batch.cwd
        self._since = self._since or time.monotonic()
        return True

    def _is_due(self) -> bool:
        held = sum(len(batch.messages) for batch in self._batches.values())
        return held >= self._batch_size or bool(self._since and time.monotonic() - self._since >= _LONGEST_WAIT)

    def _patience(self) -> float | None:
        return _LONGEST_WAIT if (self._batches and not self._held) or self._workers.wanted else None

    def _write(self, *, last: bool = False) -> None:
        if self._held:
            return
        self._since = 0.0
        for ref, batch in list(self._batches.items()):
            if batch.again > time.monotonic():
                if last:
                    self._put_aside(ref, batch)
                continue
            try:
                kept = self._history.append(
                    ref, batch.messages, cwd=batch.cwd, client=batch.client, whole_file_dedupe=True
                )
            except (CatmemError, OSError) as error:
                self._put_off(ref, batch, error, last)
                continue
            del self._batches[ref]
            if kept.new and crosses_count(kept.new[0].id - 1, kept.new[-1].id):
                self._want_work(ref)

    def _put_off(self, ref: SessionRef, batch: _Batch, error: Exception, last: bool) -> None:
        batch.tries += 1
        batch.again = time.monotonic() + _LONGEST_WAIT
        if batch.tries == 1 or last:
            self._fault(error)
        if last or batch.tries >= _TRIES:
            self._put_aside(ref, batch)

    def _put_aside(self, ref: SessionRef, batch: _Batch) -> None:
        del self._batches[ref]
        root = str(self._history.root)
        try:
            put_aside(root, ref, batch.messages, cwd=batch.cwd, client=batch.client, redact=self._redact)
        except (CatmemError, OSError) as error:
            # Neither here nor there: what comes again of it is taken again.
            self._fault(error)
            self._turns.lost(ref)

    def _end(self, refs: Set[SessionRef]) -> None:
        if self._held:
            return
        ended = [ref for ref in refs if ref not in self._batches]
        self.open.difference_update(ended)
        for ref in ended:
            with contextlib.suppress(CatmemError, OSError):
                self._history.append(ref, (), marks=[{"mark": "end", "reason": "left"}])
        if ended:
            self._want_work()

    def _want_work(self, ref: SessionRef | None = None) -> None:
        """A worker is to distil what has ended, and `ref` although it goes on."""
        if self.distils and not self._held:
            self._workers.want(ref)
