"""`mem show ID`"""

from __future__ import annotations

import click

from catmem.cli.output import Session, mem_command
from catmem.domain.clock import local_day
from catmem.domain.memory import Memory, Revision
from catmem.store.records import export_entries

_STATUS = {"live": ("in force", "有效"), "superseded": ("superseded", "已被取代"), "forgotten": ("forgotten", "已遗忘")}


@mem_command("show", "One memory with its history and evidence.", "一条记忆的来龙去脉。")
@click.argument("id")
def command(session: Session, id: str) -> None:
    session.catmem.store.catch_up()
    memory = session.catmem.store.require(id)
    session.result({"id": memory.id, "superseded_by": memory.superseded_by or None, "entries": export_entries(memory)})
    if not session.as_json:
        for revision in reversed(memory.revisions):
            _print(session, memory, revision)


def _print(session: Session, memory: Memory, revision: Revision) -> None:
    en, zh = _STATUS[revision.status]
    until = f" – {local_day(revision.valid_to)}" if revision.valid_to else " –"
    since = local_day(revision.valid_from) if revision.valid_from else "?"
    place = f"{revision.kind} · {revision.scope} · {memory.project or '-'}"
    head = f"{memory.id} v{revision.version}  [{place}]  {since}{until}"
    successor = f" → {memory.superseded_by}" if memory.superseded_by and revision is memory.now else ""
    session.say(f"{head}  {en}{successor}", f"{head}  {zh}{successor}")
    session.say(f"  {revision.text}", f"  {revision.text}")
    for e in revision.evidence:
        source = f"{e.session} #{e.message_id}, {local_day(e.at)}"
        session.say(f"    said in {source}: “{e.quote}”", f"    出自 {source}：“{e.quote}”")
    if revision.why:
        session.say(f"    by {revision.by}: {revision.why}", f"    来自 {revision.by}：{revision.why}")
