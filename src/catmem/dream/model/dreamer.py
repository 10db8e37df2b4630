"""A dream of a data directory: when there is one, what it is asked, and the one append that is its effect."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from catmem.domain.change import Change, Job
from catmem.domain.clock import Clock, now, seconds_of
from catmem.domain.errors import ModelFailed, StorageFailed
from catmem.domain.hashing import short_hash
from catmem.dream.model.asking import Completes, ask, language_of_material
from catmem.dream.model.material import Material, material_of
from catmem.dream.model.operations import Operation, Refused, operations_of
from catmem.llm.port import Failure
from catmem.sessions.names import file_name
from catmem.settings.paths import Paths, write_private
from catmem.store.memories import MemoryStore

RECIPE = "dream/1"
# The same material that three answers were useless for is left to the rules: it would wedge all that comes after it.
MOST_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Dreamt:
    """Of one project: the operations that were carried out, and those that were refused; `error` (and the same in
    Chinese) if nothing could be."""

    project: str
    done: tuple[Operation, ...] = ()
    refused: tuple[Refused, ...] = ()
    error: str = ""
    error_zh: str = ""


class Dreamer:
    """`settings` are those of `dream`; `threshold` is how many sessions must say a preference for the profile.

    One worker at a time runs it: the caller holds that lock.
    """

    def __init__(
        self,
        store: MemoryStore,
        paths: Paths,
        model: Completes,
        settings: Mapping[str, float],
        *,
        threshold: int,
        clock: Clock,
    ) -> None:
        self._store = store
        self._paths = paths
        self._model = model
        self._settings = settings
        self._threshold = threshold
        self._clock = clock

    def is_due(self) -> bool:
        """True once an interval. Where the clock was put back, a run from the future counts as one of now."""
        last = self._state().get("at")
        try:
            since = self._clock() - seconds_of(str(last)) if last else None
        except ValueError:
            since = None
        if since is not None and since < 0:
            self._note(at=now(self._clock))
            return False
        return since is None or since >= self._settings["interval_minutes"] * 60

    def run(
        self,
        projects: Sequence[str],
        *,
        force: bool = False,
        dry: bool = False,
        stop: Callable[[], bool] = lambda: False,
    ) -> list[Dreamt]:
        """Dreams of each project that has something new, and of the profile. Nothing new, no question, no write.

        `force` does not wait for the interval; `dry` asks and shows, and changes nothing.
        """
        if not (force or self.is_due()):
            return []
        if not dry:
            # First: a run that is killed has been one, too, or a model that kills it is asked at every start.
            self._note(at=now(self._clock))
        dreamt = []
        for project in ("", *projects):
            if stop():
                break
            try:
                found = self._dream(project, dry)
            except Failure as failure:
                dreamt.append(Dreamt(project, error=failure.en, error_zh=failure.zh))
                break  # the model rests, or the day's tokens are spent: the next would fail alike
            except ModelFailed as failure:
                found = Dreamt(project, error=failure.en, error_zh=failure.zh)
            if found is not None:
                dreamt.append(found)
        if not dry:
            failed = next((one for one in dreamt if one.error), Dreamt(""))
            self._note(error=failed.error, error_zh=failed.error_zh)
        return dreamt

    def trouble(self) -> tuple[str, str]:
        """Why the last run could not do all that it wanted to, in English and Chinese; empty if it could."""
        state = self._state()
        en = str(state.get("error") or "")
        return en, str(state.get("error_zh") or en)

    def _dream(self, project: str, dry: bool) -> Dreamt | None:
        cursor = self._store.dream_cursor(project)
        material = material_of(self._store, project, cursor, int(self._settings["entries_per_run"]))
        if not self._is_new(material, cursor):
            return None
        answer = self._answer(material) if len(material.memories) > 1 else {}
        if answer is None:
            self._commit(material, {}, dry)  # given up: the digests count as read
            return Dreamt(project, error="no usable answer, so the rules alone", error_zh="没有可用的回答，只凭规则")
        done, refused = self._commit(material, answer, dry)
        return Dreamt(project, tuple(done), tuple(refused))

    def _is_new(self, material: Material, cursor: Mapping[str, int]) -> bool:
        if material.project:
            return dict(material.cursor) != dict(cursor)
        if len(material.memories) < 2:
            return False
        seen = self._state().get("profile")
        unseen = not isinstance(seen, list) or not set(_looked_at(material)) <= set(map(str, seen))
        # What was answered and not carried out yet, since we were killed, is carried out.
        return unseen or "answer" in self._answered(material)

    def _answer(self, material: Material) -> Mapping[str, Any] | None:
        """What the model says of this material: asked once, whatever kills us afterwards. None if it was given up."""
        saved = self._answered(material)
        if isinstance(saved.get("answer"), dict):
            answer: Mapping[str, Any] = saved["answer"]
            return answer
        failures = int(saved.get("failures", 0))
        if failures >= MOST_ATTEMPTS:
            return None
        try:
            answer = ask(self._model, material, language_of_material(material))
        except Failure:
            raise
        except ModelFailed:
            self._save(material, {"key": material.key, "failures": failures + 1})
            raise
        self._save(material, {"key": material.key, "answer": answer})
        return answer

    def _commit(
        self, material: Material, answer: Mapping[str, Any], dry: bool
    ) -> tuple[list[Operation], list[Refused]]:
        """Carries an answer out and moves the cursor, in one append."""
        outcome: tuple[list[Operation], list[Refused]] = ([], [])

        def proposed() -> tuple[Sequence[Change], Mapping[str, int]]:
            nonlocal outcome
            present = {memory.id: memory for memory in self._store.live()}
            may_lose = max(1, int(len(material.memories) * self._settings["max_loss"]))
            outcome = operations_of(
                answer, material, present, threshold=self._threshold, may_lose=may_lose
            )  # fmt: skip
            changes = [operation.change for operation in outcome[0]]
            if material.project:
                job = Job(material.project, "", 0, 0, RECIPE)
                changes.append(Change(0, "", "", "dream", "dream", job=job, cursor=dict(material.cursor)))
            seen = {m.id: m.version for operation in outcome[0] for m in operation.touched}
            return ([] if dry else changes), seen

        if not dry and not material.project:
            # Before the commit, which changes what the next run sees, and is no news to it.
            self._note(profile=_looked_at(material))
        self._store.commit_retrying(proposed)
        if not dry:
            with contextlib.suppress(OSError):  # What stays is of another question, or of none.
                self._place(material).unlink()
        return outcome

    # -- what is remembered between runs: derived, so losing it costs a question, no more ------------------------------

    def _state(self) -> dict[str, Any]:
        return _read(self._paths.run / "dream.json")

    def _note(self, **fields: Any) -> None:
        _write(self._paths, self._paths.run / "dream.json", {**self._state(), **fields})

    def _answered(self, material: Material) -> dict[str, Any]:
        """{"answer"} or {"failures"} of this very material, or nothing."""
        saved = _read(self._place(material))
        return saved if saved.get("key") == material.key else {}

    def _save(self, material: Material, record: Mapping[str, Any]) -> None:
        _write(self._paths, self._place(material), record)

    def _place(self, material: Material) -> Any:
        name = file_name(material.project) if material.project else "_profile"
        return self._paths.run / "proposals" / f"dream-{name}.json"


def _looked_at(material: Material) -> list[str]:
    return [short_hash(f"{memory.id} {memory.now.text}", 6) for memory in material.memories]


def _read(path: Any) -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(path.read_bytes())
        return record if isinstance(record, dict) else {}
    return {}


def _write(paths: Paths, path: Any, record: Mapping[str, Any]) -> None:
    try:
        paths.make(path.parent)
        write_private(path, json.dumps(record, ensure_ascii=False).encode("utf-8", "replace"))
    except OSError as error:
        raise StorageFailed.writing(path, error) from error
