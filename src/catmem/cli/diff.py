"""`mem diff`: what became of the memory, old beside new: of one memory line by line, of all of them taken together.

With `--json`: {"changes": [{"what": added|replaced|merged|retired|returned|promoted|restored|forgotten, "id", "project",
"at", "by", "why", "old": SIDE|null, "new": SIDE|null}]}, oldest first; a SIDE is {"id", "text", "kind", "scope"}.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import click

from catmem.cli.days import day
from catmem.cli.output import Session, local_minute, mem_command, two
from catmem.cli.words import reason, word
from catmem.domain.change import Change
from catmem.domain.errors import BadInput
from catmem.domain.history import Difference, difference, steps
from catmem.domain.memory import Revision
from catmem.store.memories import MemoryStore

# Changes that are looked at where nothing else is said, as many as `mem log` shows.
_LAST = 30


@mem_command("diff", "What became of the memory, old beside new.", "记忆的变化，新旧对照。")
@click.argument("id", required=False)
@click.option("--since", metavar="DAY", help=two("Since this day.", "从这一天起。"))
@click.option(
    "--last",
    type=click.IntRange(min=1),
    metavar="N",
    help=two("In the last N changes (30).", "最近 N 次变更（默认 30）。"),
)
@click.option("--project", metavar="P", help=two("Only of this project.", "只看该项目。"))
def command(session: Session, id: str | None, since: str | None, last: int | None, project: str | None) -> None:
    if since is not None and last is not None:
        raise BadInput("give --since or --last, not both", "--since 和 --last 只能用一个")
    store = session.catmem.store
    store.catch_up()
    start = day(since) or ""
    found = _of_one(store, id, start, last) if id else _of_all(store, start, last)
    if project is not None:
        members = session.catmem.projects.registry().members(project)
        found = [change for change in found if change.project in members]
    session.result({"changes": [_record(change) for change in found]})
    if session.as_json:
        return
    if not found:
        session.say("nothing has changed", "没有变化")
    for change in found:
        _print(session, change)


def _of_one(store: MemoryStore, id: str, since: str, last: int | None) -> list[Difference]:
    memory = store.require(id)
    lines = store.history(memory.id)
    first = _first(lines, {(line.device, line.seq) for line in lines if line.at >= since})
    found = list(steps(memory.id, lines, store.forgotten_statements(), store.get, first))
    return found[-last:] if last else found


def _of_all(store: MemoryStore, since: str, last: int | None) -> list[Difference]:
    """What the lines of a time did to every memory, each told once; what came to replace another is told with it."""
    lines = store.written_since(since) if since else store.changes(limit=last or _LAST)
    news = {(line.device, line.seq) for line in lines}
    forgotten = store.forgotten_statements()
    found = []
    for id, known in store.histories(sorted({id for line in lines for id in line.touches()})):
        what = difference(id, known, forgotten, store.get, _first(known, news))
        if what:
            found.append(what)
    told = {what.by_id for what in found if what.what == "replaced"}
    return sorted(
        (what for what in found if not (what.what in ("added", "returned", "restored") and what.id in told)),
        key=lambda what: (what.line.at, what.line.device, what.line.seq, what.id),
    )


def _first(lines: Sequence[Change], news: Set[tuple[str, int]]) -> int:
    """The number of the first of `lines` that is among the news, which are the newest of all."""
    return next((number for number, line in enumerate(lines) if (line.device, line.seq) in news), len(lines))


def _record(change: Difference) -> dict[str, Any]:
    return {
        "what": change.what,
        "id": change.id,
        "project": change.project,
        "at": change.line.at,
        "by": change.line.by,
        "why": change.line.why,
        "old": _side(change.id, change.old),
        "new": _side(change.by_id or change.id, change.new),
    }


def _side(id: str, revision: Revision | None) -> dict[str, Any] | None:
    if revision is None:
        return None
    return {"id": id, "text": revision.text, "kind": revision.kind, "scope": revision.scope}


def _print(session: Session, change: Difference) -> None:
    when, line = local_minute(change.line.at), change.line
    shown = change.new or change.old
    kind = shown.kind if shown else ""
    home = change.project if shown and shown.scope == "project" else "profile" if shown else change.project
    home_zh = "个人档案" if shown and shown.scope == "global" else home
    place_en = " · ".join(part for part in (kind, home) if part)
    place_zh = " · ".join(part for part in (word(kind, "zh"), home_zh) if part)
    why_en = f": {line.why}" if line.why else ""
    why_zh = f"：{reason(line.why, 'zh')}" if line.why else ""
    session.say(
        f"{when}  {change.what:<9}  {change.id}  [{place_en}]  by {line.by}{why_en}",
        f"{when}  {word(change.what, 'zh')}  {change.id}  [{place_zh}]  {word(line.by, 'zh')}{why_zh}",
    )
    if change.old and not (change.new and change.what == "promoted"):
        session.say(f"  - {change.old.text}", f"  - {change.old.text}")
    if change.new:
        other = f"{change.by_id}  " if change.by_id else ""
        session.say(f"  + {other}{change.new.text}", f"  + {other}{change.new.text}")
