"""`mem review`: what was decided without the user since the last time (conflicts, promotions), and answers of a model
that could not be used.

With `--json`: {"conflicts": [{"outcome": replaced|kept|open, "won": SIDE, "lost": SIDE}], "promotions": [{"joined",
"ids", "text", "why", "sessions", "needed"}], "parked": [answers], "missed": [{"project", "session"}]}; a SIDE is {"id",
"version", "text", "kind", "scope", "project", "by", "valid_from", "valid_to", "evidence"} as in an export. What a script
reads nobody has seen: it stays to be looked over, unless `--done` says otherwise.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from catmem.cli.output import Session, counted, local_minute, mem_command, two
from catmem.cli.reasons import fault, reasons
from catmem.cli.words import reason, word
from catmem.cli.work import FOREGROUND_WAIT_SECONDS, only_worker
from catmem.distil.model.record import ParkedAnswer, Record
from catmem.domain.clock import local_day
from catmem.dream.review import Conflict, Promotion, Reviewed, Stated, conflicts, promotions
from catmem.text.cut import preview

# Of each kind so many, the newest: after an import of years there are hundreds.
_SHOWN = 30


@mem_command(
    "review", "What was decided without you, and unusable answers.", "查看自动作出的取舍，以及模型无法使用的回答。"
)
@click.option("--all", "everything", is_flag=True, help=two("Also what you have looked over.", "包括已经看过的。"))
@click.option(
    "--done", is_flag=True, help=two("Count all of it as looked over.", "全部算作已经看过（包括没有显示出来的）。")
)
@click.option("--drop", is_flag=True, help=two("Drop the answers after showing them.", "显示后删除这些回答。"))
def command(session: Session, everything: bool, done: bool, drop: bool) -> None:
    catmem = session.catmem
    catmem.store.catch_up()
    memories = catmem.store.all()
    threshold = catmem.settings.preference_confirm_threshold
    found, risen = conflicts(memories), promotions(memories, threshold)
    reviewed = Reviewed(catmem.paths)
    seen = frozenset[str]() if everything else reviewed.keys()
    fought = [conflict for conflict in found if conflict.key not in seen]
    rising = [promotion for promotion in risen if promotion.key not in seen]
    record = Record(catmem.paths)
    parked, missed = record.parked(), sorted(record.missed())
    session.result(
        {
            "conflicts": [_conflict_record(conflict) for conflict in fought],
            "promotions": [_promotion_record(promotion, threshold) for promotion in rising],
            "parked": [asdict(answer) for answer in parked],
            "missed": [{"project": ref.project, "session": ref.key} for ref in missed],
        }
    )
    if not session.as_json:
        _print_decided(session, fought, rising, threshold)
        _print_left(session, len(fought[:-_SHOWN]) + len(rising[:-_SHOWN]), everything or done)
        _print_answers(session, parked, len(missed))
        if not (fought or rising or parked or missed):
            session.say(
                "nothing new to review; `mem review --all` shows what you have seen",
                "没有新的待查看内容；`mem review --all` 显示看过的",
            )
    present = {*(c.key for c in found), *(p.key for p in risen)}
    shown = {*(c.key for c in fought[-_SHOWN:]), *(p.key for p in rising[-_SHOWN:])}
    if done:
        reviewed.note(present)
    elif shown and not session.as_json:
        reviewed.note((present & reviewed.keys()) | shown)
    if drop and parked:
        with only_worker(catmem, wait=FOREGROUND_WAIT_SECONDS):
            record.drop(lambda answer: answer in parked)


def _conflict_record(conflict: Conflict) -> dict[str, Any]:
    def side(stated: Stated) -> dict[str, Any]:
        memory, revision = stated.memory, stated.revision
        return {
            "id": memory.id,
            "version": revision.version,
            "text": revision.text,
            "kind": revision.kind,
            "scope": revision.scope,
            "project": memory.project,
            "by": revision.by,
            "valid_from": revision.valid_from,
            "valid_to": revision.valid_to or None,
            "evidence": [
                {"session": e.session, "message_id": e.message_id, "quote": e.quote, "at": e.at}
                for e in revision.evidence
            ],
        }

    return {"outcome": conflict.outcome, "won": side(conflict.won), "lost": side(conflict.lost)}


def _promotion_record(promotion: Promotion, threshold: int) -> dict[str, Any]:
    return {
        "joined": promotion.joined,
        "ids": [memory.id for memory in promotion.memories],
        "text": promotion.memories[0].now.text,
        "why": promotion.memories[0].now.why if promotion.joined else "",
        "sessions": promotion.sessions,
        "needed": threshold,
    }


def _print_decided(session: Session, fought: list[Conflict], rising: list[Promotion], threshold: int) -> None:
    for conflict in fought[-_SHOWN:]:
        _print_conflict(session, conflict)
    if fought:
        session.say(
            "`mem revert ID` (with the version, where one is shown) brings back what stands behind the -; `mem show ID` says "
            "where it was said. What you say yourself stands: `mem recall --save TEXT`, or edit MEMORY.md.",
            "`mem revert 编号`（显示了版本的再加上版本）可恢复 - 后面的说法；`mem show 编号` 可查看依据。"
            "你自己说的话总是优先：用 `mem recall --save 文本`，或编辑 MEMORY.md。",
        )
    for promotion in rising[-_SHOWN:]:
        _print_promotion(session, promotion, threshold)


def _print_left(session: Session, left: int, seen: bool) -> None:
    if left and seen:
        session.say(f"{left} older: `mem review --all --json`", f"另有 {left} 条较早的：`mem review --all --json`")
    elif left:
        session.say(
            f"{left} older, which the next `mem review` shows; `mem review --done` counts all as looked over",
            f"另有 {left} 条较早的，再次运行 `mem review` 查看；`mem review --done` 全部算作已经看过",
        )


def _print_conflict(session: Session, conflict: Conflict) -> None:
    heads = {
        "replaced": ("the later statement replaced the earlier", "后说的取代了先说的"),
        "kept": ("your own word stands against a later statement", "以你自己的话为准，未采纳后来的说法"),
        "open": ("both are in force; which one holds?", "两条同时有效，请确认以哪条为准"),
    }
    won, lost = conflict.won, conflict.lost
    home = won.memory.project if won.revision.scope == "project" else ""
    kind = won.revision.kind
    en, zh = heads[conflict.outcome]
    session.say(f"{en}  [{kind} · {home or 'profile'}]", f"{zh}  [{word(kind, 'zh')} · {home or '个人档案'}]")
    _print_side(session, "+" if conflict.outcome != "open" else "?", won)
    version = f" v{lost.revision.version}" if lost.memory.id == won.memory.id else ""
    _print_side(session, "-" if conflict.outcome != "open" else "?", lost, version)


def _print_side(session: Session, sign: str, stated: Stated, version: str = "") -> None:
    revision = stated.revision
    line = f"  {sign} {stated.memory.id}{version}  {preview(revision.text, 110)}"
    said = revision.evidence[-1] if revision.evidence else None
    if said is None:
        session.say(f"{line}  ({revision.by})", f"{line}（{word(revision.by, 'zh')}）")
        return
    place = f"{said.session} #{said.message_id}"
    session.say(f"{line}  ({place}, {local_day(said.at)})", f"{line}（{place}，{local_day(said.at)}）")


def _print_promotion(session: Session, promotion: Promotion, threshold: int) -> None:
    memory = promotion.memories[0]
    text = f"{memory.id}  {preview(memory.now.text, 110)}"
    if promotion.joined:
        why = memory.now.why
        session.say(f"joined your profile: {text}  ({why})", f"已进入个人档案：{text}（{reason(why, 'zh')}）")
        session.say(
            f"    `mem revert {memory.id}` takes it back to its project",
            f"    `mem revert {memory.id}` 可让它回到原来的项目",
        )
    else:
        sessions = counted(promotion.sessions, "session")
        session.say(
            f"one session short of your profile: {text}  (said in {sessions} of {threshold})",
            f"再有一个会话说到就进入个人档案：{text}（已在 {promotion.sessions} 个会话中说过，需要 {threshold} 个）",
        )


def _print_answers(session: Session, parked: list[ParkedAnswer], missed: int) -> None:
    for answer in parked:
        where, when = f"{answer.session} #{answer.first_id}–{answer.last_id}", local_minute(answer.at)
        session.say(
            f"{when}  {where}: a model's answer could not be used: {answer.fault} ({answer.reasons})",
            f"{when}  {where}：模型的回答无法使用：{fault(answer.fault, 'zh')}（{reasons(answer.reasons, 'zh')}）",
        )
        for line in answer.raw.splitlines()[:10]:
            session.say(f"    {preview(line, 110)}", f"    {preview(line, 110)}")
    if missed:
        session.say(
            f"{counted(missed, 'session')} distilled by the rules alone since the model failed; "
            "`mem work --retry` asks it again",
            f"{missed} 个会话因模型失败仅用规则提炼；用 `mem work --retry` 重新询问",
        )
