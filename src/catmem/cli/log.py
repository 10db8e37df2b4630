"""`mem log`"""

from __future__ import annotations

import click

from catmem.cli.output import Session, mem_command, two
from catmem.domain.change import Change, change_to_record


@mem_command("log", "What changed in the memory, newest first.", "记忆的变更记录，最新在前。")
@click.argument("id", required=False)
@click.option("--limit", type=click.IntRange(min=1), default=30, show_default=True, help=two("Lines.", "行数。"))
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
        line = f"{change.at}  {change.op:<9} {change.by:<9} {_about(change)}"
        session.say(line, line)


def _about(change: Change) -> str:
    said = "; ".join(f"{claim.id} {claim.text}" for claim in change.claims) or ", ".join(change.ids)
    if not said and change.job:
        said = f"{change.job.session} #{change.job.first_id}-{change.job.last_id}"
    return said + (f"  ({change.why})" if change.why else "")
