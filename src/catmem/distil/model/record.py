"""What came of asking the model: how often each fault was met, which answers wait for review, which sessions were
distilled without it since it failed. Lost, it costs a count and a second look, and no memory."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import asdict, astuple, dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from catmem.distil.model.trust import NOTHING_SHOWN, Showing
from catmem.domain.errors import LockBusy, StorageFailed
from catmem.domain.hashing import short_hash
from catmem.domain.session import SessionRef
from catmem.settings.paths import FILE_MODE, Paths, write_private
from catmem.settings.trouble import trouble_in

# A shorter answer ("ok") tells nobody what went wrong.
_LEAST_PARKED = 20
# Of a loop of 100 KB the beginning says enough.
_MOST_PARKED = 4_000
# Older ones go: who has not looked at a hundred will not look at more.
_MOST_ANSWERS = 100
_MOST_MISSED = 10_000
# The file is written in a millisecond; whoever holds it longer is stuck.
_LOCK_SECONDS = 10.0
# The last answers that showed anything: enough to know a model by, and few enough that another one that is put in its
# place has earned its own name after some twenty.
_LOOKED_BACK = 40


@dataclass(frozen=True, slots=True)
class ParkedAnswer:
    """An answer that could not be used twice over, with the messages that it is about."""

    project: str
    session: str
    first_id: int
    last_id: int
    at: str
    fault: str
    reasons: str
    raw: str


class Record:
    """A small file, read whole and written whole: by the worker, and by who forgets something."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._file = paths.run / "distilling.json"

    def counts(self) -> dict[str, int]:
        """Faults by class, most frequent first."""
        counts = {str(k): v for k, v in self._read("faults", dict).items() if type(v) is int}
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

    def count(self, fault: str) -> None:
        """A fault of a call that brought no answer."""
        self._change("faults", dict, lambda faults: _counted(faults, [fault]))

    def note(
        self, ref: SessionRef, question: str, faults: Sequence[str] = (), showing: Showing = NOTHING_SHOWN
    ) -> None:
        """What came of an answer: its faults, and what it showed of the model. Once, however often it is read until
        `settled`: what a killed worker was answered is read again."""
        session = _tag(ref)

        def noted(whole: Mapping[str, Any]) -> Mapping[str, Any]:
            before = _of(whole, "noted", dict)
            questions = before.get(session, [])
            if not isinstance(questions, list) or question in questions:
                return whole
            answers = [*_of(whole, "answers", list), *([astuple(showing)] if showing.tells else [])]
            return {
                **whole,
                "faults": _counted(_of(whole, "faults", dict), faults),
                "answers": answers[-_LOOKED_BACK:],
                "noted": {**before, session: [*questions, question]},
            }

        self._rewrite(noted)

    def settled(self, ref: SessionRef) -> None:
        """The answers about a session will not be read again."""
        if _tag(ref) in self._read("noted", dict):
            self._change("noted", dict, lambda noted: {tag: read for tag, read in noted.items() if tag != _tag(ref)})

    def tidy(self, waiting: Set[SessionRef]) -> None:
        """The same for all sessions that do not wait any more: their worker was killed after its commit."""
        kept = {_tag(ref) for ref in waiting}
        if self._read("noted", dict).keys() - kept:
            self._change("noted", dict, lambda noted: {tag: read for tag, read in noted.items() if tag in kept})

    def showings(self) -> list[Showing]:
        """What the last answers showed of the model, the newest last."""
        rows = [row for row in self._read("answers", list) if isinstance(row, list) and len(row) == 4]
        return [Showing(*row) for row in rows if all(type(count) is int and count >= 0 for count in row)]

    def trouble(self, kind: str, en: str, zh: str, at: str) -> None:
        """The model's last failure, told until it answers again: by `mem doctor`, and by a hook where the user can help."""
        said = {"kind": kind, "en": en, "zh": zh, "at": at}
        save(self._paths, self._paths.model_trouble, json.dumps(said, ensure_ascii=False).encode())

    def recovered(self) -> None:
        with contextlib.suppress(OSError):  # What cannot be removed is told once more.
            self._paths.model_trouble.unlink(missing_ok=True)

    def last_trouble(self) -> Mapping[str, str]:
        """{"kind", "en", "zh", "at"}, or nothing while the model answers."""
        return trouble_in(self._paths)

    def parked(self) -> list[ParkedAnswer]:
        """Oldest first."""
        return _answers(self._read("parked", list))

    def park(self, answer: ParkedAnswer) -> None:
        """Keeps an answer unless it is trivially short, or kept already. `raw` must have no secrets in it."""
        if len(answer.raw.strip()) < _LEAST_PARKED:
            return
        row = {**asdict(answer), "raw": answer.raw[:_MOST_PARKED]}
        twin = {**row, "at": ""}
        if all({**asdict(known), "at": ""} != twin for known in self.parked()):
            self._change("parked", list, lambda rows: [*rows, row][-_MOST_ANSWERS:])

    def drop(self, unwanted: Callable[[ParkedAnswer], bool]) -> int:
        """Drops parked answers; returns how many."""
        dropped = [answer for answer in self.parked() if unwanted(answer)]
        if dropped:
            self._change("parked", list, lambda rows: [asdict(it) for it in _answers(rows) if not unwanted(it)])
        return len(dropped)

    def forget(self, sources: Set[SessionRef], holds: Callable[[str], bool] = lambda text: False) -> None:
        """Drops the answers about these sessions, which may tell it in other words, and those that `holds` finds."""
        self.drop(lambda answer: SessionRef(answer.project, answer.session) in sources or holds(answer.raw))

    def missed(self) -> Set[SessionRef]:
        """The sessions that were distilled by the rules alone since the model failed."""
        return {ref for ref, _ in _missed(self._read("missed", list))}

    def missed_for(self, why: str) -> list[SessionRef]:
        """Those of them that it failed for in one way (a kind of failure), the one that was asked last at the end."""
        return [ref for ref, known in _missed(self._read("missed", list)) if known == why]

    def miss(self, ref: SessionRef, why: str = "") -> None:
        """`why` is the kind of failure, "" for answers that could not be used."""

        def missed(rows: Sequence[Any]) -> list[list[str]]:
            others = [[r.project, r.key, known] for r, known in _missed(rows) if r != ref]
            return [*others, [ref.project, ref.key, why]][-_MOST_MISSED:]

        self._change("missed", list, missed)

    def made_good(self, refs: Iterable[SessionRef]) -> None:
        good = set(refs)
        if good & self.missed():
            self._change(
                "missed", list, lambda rows: [[r.project, r.key, why] for r, why in _missed(rows) if r not in good]
            )

    def _read(self, name: str, kind: type[Any]) -> Any:
        return _of(self._whole(), name, kind)

    def _whole(self) -> Mapping[str, Any]:
        try:
            value = json.loads(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            return {}  # A damaged one begins anew; it is only about what is to be looked at.
        return value if isinstance(value, dict) else {}

    def _change(self, name: str, kind: type[Any], change: Callable[[Any], Any]) -> None:
        self._rewrite(lambda whole: {**whole, name: change(_of(whole, name, kind))})

    def _rewrite(self, change: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        lock = FileLock(self._paths.make(self._paths.locks) / "distilling.lock", mode=FILE_MODE, timeout=_LOCK_SECONDS)
        try:
            with lock:
                before = self._whole()
                after = change(before)
                if after != before:
                    save(self._paths, self._file, json.dumps(after, ensure_ascii=False).encode())
        except Timeout as error:
            raise LockBusy(
                f"{self._file} is held by another process; try again in a minute",
                f"{self._file} 被另一个进程占用；请一分钟后再试",
            ) from error


def _of(whole: Mapping[str, Any], name: str, kind: type[Any]) -> Any:
    value = whole.get(name)
    return value if isinstance(value, kind) else kind()


def _counted(faults: Mapping[str, Any], more: Sequence[str]) -> Mapping[str, int]:
    counts = {name: count for name, count in faults.items() if type(count) is int}
    for fault in more:
        counts[fault] = counts.get(fault, 0) + 1
    return counts


def _missed(rows: Sequence[Any]) -> list[tuple[SessionRef, str]]:
    sound = [[str(part) for part in row] for row in rows if isinstance(row, list) and len(row) in (2, 3)]
    return [(SessionRef(row[0], row[1]), row[2] if len(row) > 2 else "") for row in sound]


def _tag(ref: SessionRef) -> str:
    return short_hash(f"{ref.project}\n{ref.key}", 8)


def _answers(rows: Sequence[Any]) -> list[ParkedAnswer]:
    found = []
    for row in rows:
        with contextlib.suppress(TypeError):  # not one of ours
            found.append(ParkedAnswer(**row))
    return found


def save(paths: Paths, file: Path, data: bytes) -> None:
    """Writes a private file of the data directory whole. Raises StorageFailed."""
    paths.make(file.parent)
    try:
        write_private(file, data)
    except OSError as error:
        raise StorageFailed.writing(file, error) from error
