"""The tool `explain`: where a memory comes from, what it was before, who changed it and why."""

from __future__ import annotations

from collections.abc import Iterator

from catmem.domain.clock import local_day
from catmem.domain.memory import Evidence, Memory, Revision
from catmem.domain.words import reason, word
from catmem.mcp.port import Asked
from catmem.mcp.quoting import LONGEST_ANSWER, fenced, on_one_line
from catmem.mcp.scope import memory_within
from catmem.mcp.telling import tell
from catmem.text.cut import cut_bytes

_STATUS = {"live": ("in force", "有效"), "superseded": ("superseded", "已被取代"), "forgotten": ("forgotten", "已遗忘")}
# Bytes of a statement, which is shown whole (4,000 characters at most), and of a sentence that it rests on.
_LONGEST = 13_000
_LONGEST_QUOTE = 400
# Sentences of one revision; one that was said in fifty sessions is explained by the newest of them.
_MOST_EVIDENCE = 8


def explain(asked: Asked) -> str:
    asked.memory.store.catch_up()
    memory = memory_within(asked, asked.arguments["id"])
    body = "\n".join(line for revision in reversed(memory.revisions) for line in _revision(asked, memory, revision))
    tell(asked, [(memory.id, on_one_line(memory.now.text, _LONGEST))], query=f"explain {memory.id}")
    return fenced(cut_bytes(body, LONGEST_ANSWER), asked.memory.language)


def _revision(asked: Asked, memory: Memory, revision: Revision) -> Iterator[str]:
    language = asked.memory.language
    since = local_day(revision.valid_from) if revision.valid_from else "?"
    until = local_day(revision.valid_to) if revision.valid_to else ""
    home = word("global", language) if revision.scope == "global" else on_one_line(memory.project)
    standing = asked.said(*_STATUS[revision.status])
    pinned = asked.said("pinned", "已固定") if revision.pinned else ""
    successor = f"→ {memory.superseded_by}" if memory.superseded_by and revision is memory.now else ""
    facts = [memory.id, f"v{revision.version}", word(revision.kind, language), home, f"{since} – {until}".rstrip()]
    yield " · ".join(fact for fact in [*facts, standing, pinned, successor] if fact)
    if revision.text:
        yield f"  {on_one_line(revision.text, _LONGEST)}"
    newest = sorted(revision.evidence, reverse=True)
    for evidence in newest[:_MOST_EVIDENCE]:
        yield f"    {_source(asked, evidence)}"
    if len(newest) > _MOST_EVIDENCE:
        left = len(newest) - _MOST_EVIDENCE
        yield asked.said(f"    and {left} more", f"    另有 {left} 处")
    by = word(revision.by, language) if revision.by != "user" else asked.said("the user", "用户")
    why = on_one_line(reason(revision.why, language))
    yield asked.said(f"    by {by}", f"    由{by}") + (f": {why}" if why else "")


def _source(asked: Asked, evidence: Evidence) -> str:
    quote, day = on_one_line(evidence.quote, _LONGEST_QUOTE), local_day(evidence.at)
    place = f"{on_one_line(evidence.session)} #{evidence.message_id}"
    return asked.said(f'said in {place}, {day}: "{quote}"', f"出自 {place}（{day}）：“{quote}”")
