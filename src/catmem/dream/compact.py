"""Keeping sessions bounded: long ones give their oldest turns to the archive, old ones all their messages.

Whoever is in use is left alone, no lock is held while a summary is made, and whatever fails removes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

from catmem.domain.clock import Clock, now, seconds_of, system_clock
from catmem.domain.errors import CatmemError, LockBusy, ModelFailed
from catmem.domain.message import Message
from catmem.domain.session import SessionHeader, SessionRef
from catmem.dream.compact_state import BREAKER, MOST_ATTEMPTS, CompactState, Trouble
from catmem.sessions.digests import add_digest, has_digest
from catmem.sessions.history import History
from catmem.sessions.interruption import TURN_HOURS, idle_minutes
from catmem.sessions.parts import Part
from catmem.sessions.trim import archive_all, archive_oldest, consolidate, live_bound, part_messages, trim
from catmem.settings.paths import Paths
from catmem.settings.schema import Settings

# Down to this share of max_messages: each message is then written anew once on its way to the archive, not every time.
_KEPT_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model made of a part. `complete` is False where it was cut off, or only called tools."""

    content: str
    complete: bool = True


class Summarise(Protocol):
    """The seam to a model: a part of a session -> its summary. Raises ModelFailed; must end in bounded time."""

    def __call__(self, session: SessionRef, messages: Sequence[Message]) -> Summary: ...


Digest = Callable[[SessionRef, Sequence[Message]], str]
"""The same by the rules, which never fail; "" where there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """How many sessions were compacted in a run, and how many failed."""

    compacted: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class _Candidate:
    header: SessionHeader
    score: float
    idle_minutes: float
    old: bool


class AutoCompact:
    def __init__(
        self,
        history: History,
        paths: Paths,
        settings: Settings,
        *,
        digest: Digest,
        summarise: Summarise | None = None,
        clock: Clock = system_clock,
    ) -> None:
        self._history = history
        self._paths = paths
        self._settings = settings
        self._digest = digest
        self._summarise = summarise
        self._clock = clock

    @property
    def state(self) -> CompactState:
        return CompactState(self._paths, self._settings.compact["backoff_base_minutes"])

    def run(
        self,
        *,
        rounds: int = 1,
        active: Collection[SessionRef] = (),
        stop: Callable[[], bool] = lambda: False,
    ) -> Compacted:
        """Compacts those that are due, `sessions_per_round` a round, never one of `active`; 0 rounds: all of them."""
        limit = rounds * self._settings.compact["sessions_per_round"]
        compacted: set[SessionRef] = set()
        failed: set[SessionRef] = set()
        done: set[SessionRef] = set()
        while candidates := [c for c in self._candidates(active) if c.header.ref not in done]:
            for candidate in candidates:
                ref = candidate.header.ref
                if stop() or (limit and len(compacted | failed | {ref}) > limit):
                    return Compacted(len(compacted), len(failed))
                worked = False
                try:
                    worked = self._compact(candidate)
                except LockBusy:
                    pass  # somebody writes: it is in use
                except CatmemError:
                    failed.add(ref)
                if worked:
                    compacted.add(ref)
                # A session that is still too long gets a second pass; any other had its turn.
                if not worked or candidate.old:
                    done.add(ref)
        return Compacted(len(compacted), len(failed))

    def troubled(self) -> dict[SessionRef, Trouble]:
        """The sessions whose compaction keeps failing."""
        return self.state.troubled()

    def retry_all(self) -> None:
        """Lets everything that failed be tried again at once."""
        self.state.retry_all()

    # -- which

    def _candidates(self, active: Collection[SessionRef]) -> list[_Candidate]:
        state, moment = self.state, self._clock()
        found = (
            self._candidate(header, state, moment) for header in self._history.headers() if header.ref not in active
        )
        return sorted((c for c in found if c), key=lambda c: (-c.score, c.header.ref))

    def _candidate(self, header: SessionHeader, state: CompactState, moment: float) -> _Candidate | None:
        idle = idle_minutes(header.updated_at, moment)
        if idle < self._settings.compact["idle_minutes"]:
            return None
        trouble = state.of(header.ref)
        if trouble.nothing_to == header.last_id or (trouble.not_before and seconds_of(trouble.not_before) > moment):
            return None
        days = self._settings.archive_raw_after_days
        old = bool(days) and idle >= days * 1440
        if not (old or header.last_id > self._settings.max_messages or trouble.attempts):
            return None
        live = live_bound(self._history.place(header.ref))
        long = live > self._settings.max_messages
        if not (long or trouble.attempts or (old and live)):
            return None
        return _Candidate(header, idle * live, idle, old and not (long or trouble.attempts))

    # -- how

    def _compact(self, candidate: _Candidate) -> bool:
        """One session. False if there was nothing to do, or not now."""
        ref, at, state = candidate.header.ref, now(self._clock), self.state
        place = self._history.place(ref)
        what = "age"
        try:
            if candidate.old:
                return bool(archive_all(place, at)) or self._nothing(candidate, state)
            most = self._settings.max_messages
            over = candidate.idle_minutes >= TURN_HOURS * 60
            part = archive_oldest(place, most, int(most * _KEPT_SHARE), at, turn_is_over=over)
            if not isinstance(part, Part):
                return part != "in use" and self._nothing(candidate, state)
            what = f"{part.first_id}-{part.last_id}"
            if not has_digest(self._paths, ref, part.first_id, part.last_id):  # it is, if we were killed after it
                content = self._content(ref, part_messages(place, part), state.of(ref), what)
                if content:
                    add_digest(self._paths, ref, part.first_id, part.last_id, content, at)
            consolidate(place, part, at)
            trim(place, at)
        except LockBusy:
            raise
        except CatmemError as error:
            state.failed(ref, what, f"{type(error).__name__}: {error}", at)
            raise
        state.done(ref)
        return True

    def _nothing(self, candidate: _Candidate, state: CompactState) -> bool:
        state.nothing(candidate.header.ref, candidate.header.last_id)
        return False

    def _content(self, ref: SessionRef, messages: Sequence[Message], trouble: Trouble, what: str) -> str:
        """The digest of a part. Raises ModelFailed where a model's is refused; after some of them the rules make it."""
        if not any(m.role in ("user", "assistant") and m.content.strip() for m in messages):
            return ""
        open_breaker = trouble.what == what and (trouble.equal >= BREAKER or trouble.attempts >= MOST_ATTEMPTS)
        if self._summarise is None or open_breaker:
            content = self._digest(ref, messages)
            return "" if refusal(Summary(content), messages) else content
        summary = self._summarise(ref, messages)
        why = refusal(summary, messages)
        if why:
            raise ModelFailed(f"the summary was refused: {why[0]}", f"摘要被拒绝：{why[1]}")
        return summary.content.strip()


def refusal(summary: object, messages: Sequence[Message]) -> tuple[str, str] | None:
    """Why a summary may not take the place of its messages, in English and Chinese; None if it may."""
    if not isinstance(summary, Summary) or not isinstance(summary.content, str):
        return "it is no text", "不是文本"
    if not summary.complete:
        return "it was cut off", "内容被截断"
    if not summary.content.strip():
        return "it is empty", "内容为空"
    if len(summary.content.encode("utf-8", "replace")) >= sum(
        len(m.content.encode("utf-8", "replace")) for m in messages
    ):
        return "it is not shorter than its source", "不比原文短"
    return None
