"""`mem forget`"""

from __future__ import annotations

from collections.abc import Sequence

import click

from catmem.capture.spool import drain
from catmem.cli.output import Session, counted, mem_command, two
from catmem.cli.purging import Sentence, purge_sentences, sentences_with
from catmem.cli.words import word
from catmem.domain.clock import local_day, parse_instant
from catmem.domain.errors import BadInput, NotConfirmed, NotFound
from catmem.domain.memory import Memory
from catmem.inject.forget import forget as forget_everywhere
from catmem.inject.forget import with_words


@mem_command(
    "forget",
    "Remove memories for good, after showing them: by id, by words, by project or by date.",
    "先展示再彻底删除记忆：按编号、关键词、项目或日期。",
)
@click.argument("what", nargs=-1, metavar=two("[ID… or WORDS…]", "[编号… 或 关键词…]"))
@click.option("--project", metavar="P", help=two("All memories of this project.", "该项目的全部记忆。"))
@click.option("--before", metavar="DAY", help=two("Only what was last said before this day.", "只删这一天之前说过的。"))
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
    if purge:  # What still waits to be taken in holds the sentences, too.
        drain(str(session.catmem.paths.root), session.catmem.settings.durability)
    session.catmem.pages.write()  # A line edited by hand is that memory, and would come back as another one.
    chosen = chosen_for(session, what, project, before)
    if not chosen:
        said = _said(session, what, project, before) if purge else []
        if not said:
            raise NotFound("no memory fits; nothing was changed", "没有符合的记忆；未作任何改动")
        purge_sentences(session, said, dry_run=dry_run, yes=yes)
        return
    if not session.as_json or not (yes or dry_run):
        for memory in chosen:
            preview(session, memory)
        if not purge and any(e.message_id for memory in chosen for e in memory.now.evidence):
            session.say(
                "The conversations will still hold what was said; --purge removes it there too.",
                "原始会话仍会保留原话；加 --purge 可一并删去。",
            )
    shown = [{"id": m.id, "text": m.now.text, "sessions": sorted({e.session for e in m.now.evidence})} for m in chosen]
    if dry_run:
        session.result({"forgotten": [], "would_forget": shown, "purged": 0})
        if not session.as_json:
            session.say(
                f"{counted(len(chosen), 'memory', 'memories')} would be forgotten; nothing was changed",
                f"将忘记 {len(chosen)} 条记忆；未作任何改动",
            )
        return
    these = "this memory" if len(chosen) == 1 else f"these {len(chosen)} memories"
    if not yes and not session.confirm(f"Forget {these} for good?", f"彻底忘记这 {len(chosen)} 条记忆？"):
        raise NotConfirmed(
            "nothing was forgotten; add --yes to skip the question", "没有忘记任何内容；加 --yes 可跳过询问"
        )
    purged = forget(session, chosen, purge)
    session.result({"forgotten": shown, "would_forget": [], "purged": purged})
    if not session.as_json:
        session.say(f"forgot {counted(len(chosen), 'memory', 'memories')}", f"已忘记 {len(chosen)} 条记忆")
        if purge:
            session.say(f"taken out of {counted(purged, 'message')}", f"已从 {purged} 条消息中删去原句")


def forget(session: Session, chosen: Sequence[Memory], purge: bool) -> int:
    """Removes memories everywhere that we keep them; returns how many messages were purged."""
    return forget_everywhere(session.catmem, chosen, purge=purge, why="forgotten by the user")


def chosen_for(session: Session, what: tuple[str, ...], project: str | None, before: str | None) -> list[Memory]:
    """The memories that ids or words, a project and a day fit; forgotten ones are gone. Raises NotFound for an id."""
    store = session.catmem.store
    present = [m for m in store.all() if m.now.status != "forgotten"]
    if len(what) >= 1 and all(_looks_like_id(word) for word in what):
        present = [memory for word in what if (memory := store.require(word)).now.status != "forgotten"]
    elif what:
        present = with_words(present, " ".join(what))
    if project is not None:
        members = session.catmem.projects.registry().members(project)
        present = [m for m in present if m.project in members]
    if before is not None:
        limit = _stamp(before)
        present = [m for m in present if _last_said(m) < limit]
    return present


def _said(session: Session, what: tuple[str, ...], project: str | None, before: str | None) -> list[Sentence]:
    """What the conversations say in these words. Of a forgotten memory nothing is left to look for but its words."""
    if what and all(_looks_like_id(word) for word in what):
        raise NotFound(
            f"{' '.join(what)} is forgotten, its words too; say them: `mem forget WORDS --purge`",
            f"{' '.join(what)} 已忘记，内容不再保留；请给出关键词：`mem forget 关键词 --purge`",
        )
    return sentences_with(session.catmem, " ".join(what), project, _stamp(before) if before is not None else None)


def _stamp(day: str) -> str:
    instant = parse_instant(day)
    if instant is None:
        raise BadInput(f"{day!r} is not a date; write 2026-05-31", f"{day!r} 不是日期；请写成 2026-05-31")
    return instant[0]


def _looks_like_id(word: str) -> bool:
    return len(word) >= 5 and word[0] == "m" and all(c in "0123456789abcdef" for c in word[1:])


def _last_said(memory: Memory) -> str:
    return max((e.at for e in memory.now.evidence), default=memory.updated_at)


def preview(session: Session, memory: Memory) -> None:
    """One memory, all that it has been, and the places where it was said."""
    for revision in reversed(memory.revisions):
        kind, text = revision.kind, revision.text
        if revision is memory.now:
            session.say(f"{memory.id}  [{kind}]  {text}", f"{memory.id}  [{word(kind, 'zh')}]  {text}")
        elif text:
            session.say(f"    before: {text}", f"    此前：{text}")
        for e in revision.evidence:
            place, day = f"{e.session} #{e.message_id}", local_day(e.at)
            session.say(f"    from {place}, {day}", f"    出自 {place}（{day}）")
