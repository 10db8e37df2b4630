"""One thing that is not as it should be, with the way out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it should be. `repair`, where there is one, puts it right and loses nothing."""

    name: str
    en: str
    zh: str
    repair: Callable[[], None] | None = None

    def record(self) -> dict[str, object]:
        return {"name": self.name, "message": self.en, "repairable": self.repair is not None}
