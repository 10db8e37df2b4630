"""What compaction remembers from run to run: which sessions failed, how often, and when to try again.

A small file, run/compact.json; without it everything is tried again at once, and nothing is lost.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from catmem.domain.clock import shifted
from catmem.domain.errors import StorageFailed
from catmem.domain.session import SessionRef
from catmem.settings.paths import Paths, write_private

# No wait is longer: a disk that was full has been seen to by then.
CEILING_MINUTES = 24 * 60
# After so many equal failures in a row the same again is pointless: a summary is made by the rules then.
BREAKER = 3
# Failures that differ each time come to an end, too.
MOST_ATTEMPTS = 6


@dataclass(frozen=True, slots=True)
class Trouble:
    """A session that could not be compacted. `equal` counts the last failures that were alike, `what` is of which part."""

    attempts: int = 0
    equal: int = 0
    error: str = ""
    what: str = ""
    not_before: str = ""
    nothing_to: int = 0  # its last id when there was nothing that could be archived


class CompactState:
    def __init__(self, paths: Paths, base_minutes: int) -> None:
        self._paths = paths
        self._file = paths.run / "compact.json"
        self._base = base_minutes
        self._troubles = self._load()

    def of(self, ref: SessionRef) -> Trouble:
        return self._troubles.get(ref, Trouble())

    def troubled(self) -> dict[SessionRef, Trouble]:
        """The sessions whose last attempts failed."""
        return {ref: trouble for ref, trouble in self._troubles.items() if trouble.attempts}

    def failed(self, ref: SessionRef, what: str, error: str, now: str) -> None:
        """Counts a failure of a part, and puts the next attempt off: twice as long each time, up to a day."""
        old = self.of(ref)
        same = (old.what, old.error) == (what, error)
        wait = min(self._base * 2**old.attempts, CEILING_MINUTES)
        self._set(
            ref,
            Trouble(old.attempts + 1, old.equal + 1 if same else 1, error, what, shifted(now, minutes=wait)),
        )

    def nothing(self, ref: SessionRef, last_id: int) -> None:
        """Remembers that nothing could be archived while the session ended there."""
        self._set(ref, Trouble(nothing_to=last_id))

    def done(self, ref: SessionRef) -> None:
        if ref in self._troubles:
            del self._troubles[ref]
            self._save()

    def retry_all(self) -> None:
        if self._troubles:
            self._troubles = {}
            self._save()

    def _set(self, ref: SessionRef, trouble: Trouble) -> None:
        self._troubles[ref] = trouble
        self._save()

    def _load(self) -> dict[SessionRef, Trouble]:
        try:
            rows = json.loads(self._file.read_bytes())["sessions"]
            return {SessionRef(row.pop("project"), row.pop("key")): _trouble(row) for row in rows}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _save(self) -> None:
        rows = [{"project": ref.project, "key": ref.key, **asdict(t)} for ref, t in sorted(self._troubles.items())]
        try:
            self._paths.make(self._paths.run)
            write_private(self._file, json.dumps({"sessions": rows}, ensure_ascii=False).encode("utf-8", "replace"))
        except (OSError, StorageFailed):
            return  # the disk is full, perhaps the very failure; the run after this one will find it again


def _trouble(row: dict[str, Any]) -> Trouble:
    return Trouble(
        int(row["attempts"]),
        int(row["equal"]),
        str(row["error"]),
        str(row["what"]),
        str(row["not_before"]),
        int(row["nothing_to"]),
    )
