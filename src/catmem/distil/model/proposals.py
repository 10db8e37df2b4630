"""What a model has answered is on disk before anything is made of it: a worker that is killed between the call and the
commit is not followed by a second call."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, cast

from catmem.distil.model.instructions import TRIGGERS, Trigger
from catmem.distil.model.record import save
from catmem.domain.errors import StorageFailed
from catmem.domain.hashing import short_hash
from catmem.domain.session import SessionRef
from catmem.llm.port import Completion, Turn
from catmem.sessions.names import file_name
from catmem.settings.paths import Paths

# So often a question may end its worker before it has an answer; then it is not asked any more.
MOST_DEATHS = 3


@dataclass(slots=True)
class Proposal:
    """What is being asked about the messages `first_id` to `last_id` of a session, for `trigger`.

    answers  by the key of the question
    asked    how often a question was put without an answer being saved
    """

    first_id: int
    last_id: int
    trigger: Trigger
    answers: dict[str, Completion] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)


class Proposals:
    """One file a session, from its first question to its commit."""

    def __init__(self, paths: Paths) -> None:
        self._paths = paths
        self._folder = paths.run / "proposals"

    def begun(self, ref: SessionRef, first_id: int) -> Proposal | None:
        """What a worker that is gone has asked about the messages from `first_id` on."""
        try:
            record = json.loads(self._file(ref).read_bytes())
            proposal = Proposal(
                int(record["first_id"]),
                int(record["last_id"]),
                cast(Trigger, record["trigger"]),
                {key: Completion(**answer) for key, answer in record["answers"].items()},
                {key: int(times) for key, times in record["asked"].items()},
            )
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None  # Half a proposal is none: its questions are asked again.
        return proposal if proposal.first_id == first_id and proposal.trigger in TRIGGERS else None

    def save(self, ref: SessionRef, proposal: Proposal) -> None:
        """Raises StorageFailed."""
        record: Mapping[str, Any] = asdict(proposal)
        save(self._paths, self._file(ref), json.dumps(record, ensure_ascii=False).encode())

    def settled(self, ref: SessionRef) -> None:
        """The commit has been made."""
        try:
            self._file(ref).unlink(missing_ok=True)
        except OSError as error:
            raise StorageFailed(
                f"cannot remove {self._file(ref)}: {error.strerror}; mend its permissions",
                f"无法删除 {self._file(ref)}：{error.strerror}；请检查权限",
            ) from error

    def forget(self, sources: Set[SessionRef], holds: Callable[[str], bool]) -> None:
        """Drops what was answered about these sessions, and whatever `holds` finds in: it is asked again."""
        for ref in sources:
            self.settled(ref)
        with contextlib.suppress(FileNotFoundError):  # It was settled meanwhile.
            for file in self._folder.glob("*/*.json"):
                if holds(file.read_text("utf-8", "replace")):
                    file.unlink()

    def tidy(self, waiting: Set[SessionRef]) -> None:
        """Drops what is left of sessions that do not wait any more: their worker was killed after its commit."""
        kept = {self._file(ref) for ref in waiting}
        with contextlib.suppress(OSError):  # The next run finds them, too.
            for file in self._folder.glob("*/*.json"):
                if file not in kept:
                    file.unlink()

    def _file(self, ref: SessionRef) -> Path:
        return self._folder / file_name(ref.project) / f"{file_name(ref.key)}.json"


def key_of(system: str, turns: Sequence[Turn]) -> str:
    """The key of a question: another instruction or another talk is another question."""
    return short_hash(json.dumps([system, *([turn.role, turn.text] for turn in turns)], ensure_ascii=False), 16)
