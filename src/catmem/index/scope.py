"""Where a search looks (hot path): a plain class, since a dataclass costs the hook 8 ms."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

TYPES = ("memory", "passage")
"""What is asked for where nothing else is said: never what tools gave back."""


class Scope:
    """The documents that a search may find. What holds of a scope is fixed; `only` and `between` make narrower ones, `whenever` a wider.

    types     of what types: "memory", "passage", "output"
    projects  the homes to look in, with all that was merged into them, "" being the profile; None for all
    kinds     kinds of memories and roles of passages; empty for all
    since     and `until`, in milliseconds since the epoch and both included: something of it was said between them
    past      superseded memories too
    """

    __slots__ = ("kinds", "past", "projects", "since", "types", "until")

    def __init__(
        self,
        types: Sequence[str] = TYPES,
        projects: Sequence[str] | None = None,
        kinds: Sequence[str] = (),
        since: int | None = None,
        until: int | None = None,
        past: bool = False,
    ) -> None:
        self.types, self.projects, self.kinds = types, projects, kinds
        self.since, self.until, self.past = since, until, past

    def only(self, type: str) -> Scope:
        return Scope((type,), self.projects, self.kinds, self.since, self.until, self.past)

    def between(self, since: int, until: int) -> Scope:
        return Scope(self.types, self.projects, self.kinds, since, until, self.past)

    def whenever(self) -> Scope:
        return Scope(self.types, self.projects, self.kinds, past=self.past)

    @property
    def is_timeless(self) -> bool:
        return self.since is None and self.until is None
