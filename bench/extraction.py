"""Runs a file of labelled cases through distilling without a model, and writes what stands afterwards.

    python bench/extraction.py CASES.jsonl RESULTS.jsonl

A case has `sessions` ({"id", "at", "messages": [{"role", "content"}]}) in the order of their days. Each is distilled as
the worker does it, then the preferences that enough distinct sessions said are promoted as dream does it. A line of
RESULTS is {"id", "memories": [{"text", "scope", "kind", "status"}]}, with every revision that was put out of force.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from catmem.distil.distiller import propose, read
from catmem.distil.model.selection import NOTHING
from catmem.distil.model.selector import Heard
from catmem.distil.transcript import Scorer, Sentence
from catmem.domain.change import Change, Job
from catmem.domain.fold import fold
from catmem.domain.memory import Claim, Memory
from catmem.domain.message import Message
from catmem.domain.session import SessionRef
from catmem.text.secrets.redact import redact

KEY = b"a key of the bench"

PROMOTED_AFTER = 2
"""`preference_confirm_threshold` of the default settings."""


class Memories:
    """The ledger and its fold, in the process's own memory."""

    def __init__(self) -> None:
        self.changes: list[Change] = []

    def tell(self, change: Change) -> None:
        self.changes.append(replace(change, seq=len(self.changes) + 1, device="bench"))

    def all(self) -> list[Memory]:
        ids = sorted({id for change in self.changes for id in change.touches()})
        folded = (fold(id, [c for c in self.changes if id in c.touches()]) for id in ids)
        return [memory for memory in folded if memory]

    def live(self) -> list[Memory]:
        return [memory for memory in self.all() if memory.now.status == "live"]


def run_case(
    case: Mapping[str, Any],
    scorer: Scorer | None = None,
    select: Callable[[SessionRef, Sequence[Sentence]], Heard] | None = None,
) -> Memories:
    """All sessions of a case, one after the other; `select` asks a model."""
    memories = Memories()
    for session in case["sessions"]:
        ref = SessionRef(case["project"], session["id"])
        messages = [
            Message(m["role"], redact(m["content"], KEY), session["at"], f"{ref.key}-{number}", number, ref.key)
            for number, m in enumerate(session["messages"], 1)
        ]
        sentences = read(messages, scorer)
        selection = select(ref, sentences).selection if select else NOTHING
        proposal = propose(ref, sentences, 1, memories.live(), project_name=case["project"], selection=selection)
        job = Job(ref.project, ref.key, 1, len(messages), "rules")
        at = session["at"]
        memories.tell(Change(0, at, "", "distilled", "distiller", job=job, claims=proposal.claims))
        if proposal.retired:
            memories.tell(Change(0, at, "", "retire", "distiller", why="taken back", ids=proposal.retired))
        promote(memories, at)
    return memories


def promote(memories: Memories, at: str) -> None:
    """Dream's rule: a preference that enough distinct sessions said alike joins the profile."""
    for memory in memories.live():
        now = memory.now
        if now.kind == "preference" and now.scope == "project" and now.confirmations >= PROMOTED_AFTER:
            claim = Claim(
                memory.id, "global", memory.project, now.kind, now.subject, now.predicate, now.object, now.text,
                now.valid_from, now.confidence, now.tags,
            )  # fmt: skip
            memories.tell(Change(0, at, "", "promote", "dream", why="said in several sessions", claims=(claim,)))


def rows_of(memories: Memories) -> Iterable[dict[str, str]]:
    """Every revision; the newest carries the memory's own status."""
    for memory in memories.all():
        for revision in memory.revisions:
            yield {
                "text": revision.text,
                "scope": revision.scope,
                "kind": revision.kind,
                "status": revision.status,
            }


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    with Path(sys.argv[2]).open("w", encoding="utf-8") as results:
        for line in filter(str.strip, lines):
            case = json.loads(line)
            row = {"id": case["id"], "memories": list(rows_of(run_case(case)))}
            results.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
