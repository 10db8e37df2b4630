"""`mem show ID`"""

from __future__ import annotations

import click

from catmem.cli.output import Session, mem_command
from catmem.cli.words import reason, word
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
        _print_way_back(session, memory)


def _print_way_back(session: Session, memory: Memory) -> None:
    if memory.now.status == "superseded":
        session.say(f"`mem revert {memory.id}` brings it back", f"`mem revert {memory.id}` 可恢复这条记忆")
    elif len(memory.revisions) > 1:
        version = f"v{memory.revisions[-2].version}"
        session.say(
            f"`mem revert {memory.id} {version}` brings that revision back",
            f"`mem revert {memory.id} {version}` 可恢复这一版",
        )


def _print(session: Session, memory: Memory, revision: Revision) -> None:
    en, zh = _STATUS[revision.status]
    until = f" – {local_day(revision.valid_to)}" if revision.valid_to else " –"
    since = local_day(revision.valid_from) if revision.valid_from else "?"
    head = f"{memory.id} v{revision.version}"
    home = f" · {memory.project}" if memory.project else ""
    place_en = f"[{revision.kind} · {revision.scope}{home}]  {since}{until}"
    place_zh = f"[{word(revision.kind, 'zh')} · {word(revision.scope, 'zh')}{home}]  {since}{until}"
    successor = f" → {memory.superseded_by}" if memory.superseded_by and revision is memory.now else ""
    pinned_en, pinned_zh = (", pinned", "，已固定") if revision.pinned else ("", "")
    session.say(f"{head}  {place_en}  {en}{pinned_en}{successor}", f"{head}  {place_zh}  {zh}{pinned_zh}{successor}")
    if revision.text:
        session.say(f"  {revision.text}", f"  {revision.text}")
    for e in revision.evidence:
        place, day = f"{e.session} #{e.message_id}", local_day(e.at)
        session.say(f"    said in {place}, {day}: “{e.quote}”", f"    出自 {place}（{day}）：“{e.quote}”")
    if revision.why:
        by = word(revision.by, "zh")
        session.say(f"    by {revision.by}: {revision.why}", f"    {by}：{reason(revision.why, 'zh')}")
