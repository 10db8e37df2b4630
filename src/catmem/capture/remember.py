"""What somebody asks to keep, word for word: of the user a pinned memory, of an assistant a note."""

from __future__ import annotations

from collections.abc import Callable

from catmem.domain.change import Change
from catmem.domain.clock import Clock, now
from catmem.domain.errors import BadInput
from catmem.domain.memory import Claim, Evidence, Kind, Scope, memory_id
from catmem.store.memories import MemoryStore
from catmem.text.encoding import clean
from catmem.text.private import strip_private

# Longer texts are documents, not memories; a brief could never carry them.
MAX_CHARACTERS = 4000
# Nobody but a model said it; below whatever a user or the rules have said.
NOTED = 0.4
_REMEMBERS = "remembers"


def remember(
    store: MemoryStore,
    text: str,
    *,
    project: str,
    scope: Scope,
    kind: Kind,
    session: str,
    redact: Callable[[str, str], str],
    clock: Clock,
    evidence: Evidence | None = None,
    why: str = "",
) -> str:
    """Saves `text` verbatim (secrets replaced, private parts left out) and returns the memory's id.

    It is the user's: pinned, and no job rewords or replaces it. `evidence` is the message in which it was said, where
    there is one. Raises BadInput if nothing is left of it or it is too long. Saying it twice keeps one memory.
    """
    kept = as_kept(text, redact)
    at = now(clock)
    subject = "user" if scope == "global" else "project"
    home = "" if scope == "global" else project
    claim = Claim(
        id=memory_id(scope, project, subject, _REMEMBERS, kept),
        scope=scope,
        project=home,
        kind=kind,
        subject=subject,
        predicate=_REMEMBERS,
        object=kept,
        text=kept,
        valid_from=at,
        confidence=1.0,
        evidence=(evidence or Evidence(at, home, session, 0, kept),),
        explicit=True,
    )
    store.commit([Change(0, at, "", "remember", "user", why=why, claims=(claim,))])
    return claim.id


def note(
    store: MemoryStore, text: str, *, project: str, session: str, redact: Callable[[str, str], str], clock: Clock
) -> str:
    """Keeps what an assistant wants to know later, as its own note of the project: unpinned, never a rule.

    Returns the memory's id, "" if the user has had it forgotten. Raises BadInput as `remember` does.
    """
    kept = as_kept(text, redact)
    at = now(clock)
    claim = Claim(
        id=memory_id("project", project, "project", _REMEMBERS, kept),
        scope="project",
        project=project,
        kind="note",
        subject="project",
        predicate=_REMEMBERS,
        object=kept,
        text=kept,
        valid_from=at,
        confidence=NOTED,
        evidence=(Evidence(at, project, session, 0, kept),),
    )
    if store.is_forgotten(claim):
        return ""
    store.commit([Change(0, at, "", "remember", "assistant", why="noted by the assistant", claims=(claim,))])
    return claim.id


def as_kept(text: str, redact: Callable[[str, str], str]) -> str:
    """A text as it may be kept. Raises BadInput."""
    kept = redact(strip_private(clean(text)), "said").strip()
    if not kept:
        raise BadInput("there is nothing to remember in that text", "这段文字里没有可以记住的内容")
    if len(kept) > MAX_CHARACTERS:
        raise BadInput(
            f"a memory holds at most {MAX_CHARACTERS} characters, this has {len(kept)}; save its essence",
            f"一条记忆最多 {MAX_CHARACTERS} 个字符，这段有 {len(kept)} 个；请只保存要点",
        )
    return kept
