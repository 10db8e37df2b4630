"""What the user asks to keep, word for word: a pinned memory that no job rewords or replaces."""

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
) -> str:
    """Saves `text` verbatim (secrets replaced, private parts left out) and returns the memory's id.

    Raises BadInput if nothing is left of it or it is too long. Saying it twice keeps one memory.
    """
    kept = redact(strip_private(clean(text)), "said").strip()
    if not kept:
        raise BadInput("there is nothing to remember in that text", "这段文字里没有可以记住的内容")
    if len(kept) > MAX_CHARACTERS:
        raise BadInput(
            f"a memory holds at most {MAX_CHARACTERS} characters, this has {len(kept)}; save its essence",
            f"一条记忆最多 {MAX_CHARACTERS} 个字符，这段有 {len(kept)} 个；请只保存要点",
        )
    at = now(clock)
    subject = "user" if scope == "global" else "project"
    home = "" if scope == "global" else project
    claim = Claim(
        id=memory_id(scope, project, subject, "remembers", kept),
        scope=scope,
        project=home,
        kind=kind,
        subject=subject,
        predicate="remembers",
        object=kept,
        text=kept,
        valid_from=at,
        confidence=1.0,
        evidence=(Evidence(at, home, session, 0, kept),),
        explicit=True,
    )
    store.commit([Change(0, at, "", "remember", "user", claims=(claim,))])
    return claim.id
