"""`mem log`"""

from __future__ import annotations

import click

from catmem.cli.output import Session, local_minute, mem_command, two
from catmem.cli.words import reason, word
from catmem.domain.change import Change
from catmem.domain.change_record import change_to_record

# Memories named in one line; an import may bring thousands.
_SHOWN = 5


@mem_command("log", "What changed in the memory, newest first.", "记忆的变更记录，最新在前。")
@click.argument("id", required=False)
@click.option(
    "--limit", type=click.IntRange(min=1), default=30, metavar="N", help=two("So many (30).", "条数（默认 30）。")
)
def command(session: Session, id: str | None, limit: int) -> None:
    store = session.catmem.store
    store.catch_up()
    changes = store.changes(store.require(id).id if id else None, limit)
    session.result({"changes": [change_to_record(change) for change in changes]})
    if session.as_json:
        return
    if not changes:
        session.say("nothing has been remembered yet", "还没有任何记忆")
    for change in changes:
        when = local_minute(change.at)
        session.say(
            f"{when}  {change.op:<9}  {_about(change, 'en')}",
            f"{when}  {word(change.op, 'zh')}  {_about(change, 'zh')}",
        )


def _about(change: Change, language: str) -> str:
    chinese = language == "zh"
    forgotten = "（已遗忘）" if chinese else "(forgotten)"
    parts = [f"{claim.id} {claim.text or forgotten}" for claim in change.claims]
    parts += sorted({*change.ids, *(str(entry["id"]) for entry in change.records)} - {c.id for c in change.claims})
    if change.job and change.op == "forget":
        key = change.job.session
        parts.append(f"{key} 中的句子" if chinese else f"sentences of {key}")
    if change.job and not parts:
        place = f"{change.job.session} #{change.job.first_id}–{change.job.last_id}"
        parts.append(f"{place}：没有值得记住的" if chinese else f"{place}: nothing worth keeping")
    shown = parts[:_SHOWN]
    if len(parts) > _SHOWN:
        shown.append(f"另有 {len(parts) - _SHOWN} 条" if chinese else f"{len(parts) - _SHOWN} more")
    why = f"（{reason(change.why, 'zh')}）" if chinese else f"  ({change.why})"
    return ("；" if chinese else "; ").join(shown) + (why if change.why else "")
