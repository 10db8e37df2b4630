"""`mem forget`"""

from __future__ import annotations

from collections.abc import Sequence

import click

from catmem.cli.output import Session, mem_command, two
from catmem.domain.clock import local_day, parse_instant
from catmem.domain.errors import BadInput, NotConfirmed, NotFound
from catmem.domain.memory import Memory
from catmem.domain.session import SessionRef
from catmem.text.tokens import query_tokens, tokens


@mem_command(
    "forget",
    "Remove memories for good, after showing them: by id, by words, by project or by date.",
    "先展示再彻底删除记忆：按编号、关键词、项目或日期。",
)
@click.argument("what", nargs=-1)
@click.option("--project", help=two("All memories of this project.", "该项目的全部记忆。"))
@click.option("--before", help=two("Only what was last said before this day.", "只删这一天之前说过的。"))
@click.option(
    "--purge",
    is_flag=True,
    help=two("Also remove the sentences from the raw sessions.", "同时从原始会话中删去这些句子。"),
)
@click.option("--dry-run", is_flag=True, help=two("Only show what would go.", "只显示将删除什么。"))
@click.option("--yes", is_flag=True, help=two("Do not ask.", "不再询问。"))
def command(
    session: Session,
    what: tuple[str, ...],
    project: str | None,
    before: str | None,
    purge: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    if not what and project is None and before is None:
        raise BadInput(
            "say what to forget: an id, words, --project or --before",
            "请指明要忘记什么：编号、关键词、--project 或 --before",
        )
    session.catmem.store.catch_up()
    chosen = chosen_for(session, what, project, before)
    if not chosen:
        raise NotFound("no memory fits; nothing was changed", "没有符合的记忆；未作任何改动")
    for memory in chosen if not session.as_json else []:
        preview(session, memory)
    shown = [{"id": m.id, "text": m.now.text, "sessions": sorted({e.session for e in m.now.evidence})} for m in chosen]
    if dry_run:
        session.result({"forgotten": [], "would_forget": shown, "purged": 0})
        return
    if not yes and not session.confirm(f"Forget these {len(chosen)} for good?", f"彻底忘记这 {len(chosen)} 条？"):
        raise NotConfirmed(
            "nothing was forgotten; add --yes to skip the question", "没有忘记任何内容；加 --yes 可跳过询问"
        )
    purged = forget(session, chosen, purge)
    session.result({"forgotten": shown, "would_forget": [], "purged": purged})
    if not session.as_json:
        session.say(f"forgot {len(chosen)}", f"已忘记 {len(chosen)} 条")


def forget(session: Session, chosen: Sequence[Memory], purge: bool) -> int:
    """Removes memories everywhere that we keep them; returns how many messages were purged."""
    catmem = session.catmem
    catmem.store.forget([memory.id for memory in chosen], "forgotten by the user")
    purged = 0
    if purge:
        for e in sorted({e for memory in chosen for revision in memory.revisions for e in revision.evidence}):
            ref = SessionRef(e.project, e.session)
            if catmem.history.exists(ref):
                purged += catmem.history.purge(ref, e.quote)
    quotes = {e.quote for memory in chosen for revision in memory.revisions for e in revision.evidence}
    catmem.index.forget([memory.id for memory in chosen], sorted(quotes) if purge else ())
    catmem.index.catch_up(catmem.store, catmem.history)
    return purged


def chosen_for(session: Session, what: tuple[str, ...], project: str | None, before: str | None) -> list[Memory]:
    """The memories that ids or words, a project and a day fit; forgotten ones are gone. Raises NotFound for an id."""
    store = session.catmem.store
    present = [m for m in store.all() if m.now.status != "forgotten"]
    if len(what) >= 1 and all(_looks_like_id(word) for word in what):
        present = [store.require(word) for word in what]
    elif what:
        wanted = set(query_tokens(" ".join(what)))
        present = [m for m in present if wanted and wanted <= set(tokens(m.now.text))]
    if project is not None:
        present = [m for m in present if m.project == project]
    if before is not None:
        limit = parse_instant(before)
        if limit is None:
            raise BadInput(f"{before!r} is not a date; write 2026-05-31", f"{before!r} 不是日期；请写成 2026-05-31")
        present = [m for m in present if _last_said(m) < limit[0]]
    return present


def _looks_like_id(word: str) -> bool:
    return len(word) >= 5 and word[0] == "m" and all(c in "0123456789abcdef" for c in word[1:])


def _last_said(memory: Memory) -> str:
    return max((e.at for e in memory.now.evidence), default=memory.updated_at)


def preview(session: Session, memory: Memory) -> None:
    """One memory with the places where it was said."""
    line = f"{memory.id}  [{memory.now.kind}]  {memory.now.text}"
    session.say(line, line)
    for e in memory.now.evidence:
        place = f"{e.session} #{e.message_id}, {local_day(e.at)}"
        session.say(f"    from {place}", f"    出自 {place}")
