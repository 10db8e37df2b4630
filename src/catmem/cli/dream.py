"""`mem dream`: tidies the memory now, and shows what was done, what was refused, and why."""

from __future__ import annotations

from typing import Any

import click

from catmem.cli.output import Session, mem_command, two
from catmem.cli.work import FOREGROUND_WAIT_SECONDS, only_worker
from catmem.domain.errors import NotFound
from catmem.domain.memory import Memory
from catmem.dream.model.dreamer import Dreamt
from catmem.dream.model.operations import Operation, Refused

_NAMES = {"merge": "合并", "replace": "取代", "retire": "了结", "promote": "晋升"}
_WHYS = {
    "names nothing": "没有指出任何条目",
    "names only one": "只指出了一条",
    "names not two": "没有指出两条",
    "names no reason": "没有指出依据",
    "names a number that is not there": "编号不存在",
    "has changed meanwhile": "期间已有变动",
    "is part of another operation": "已属于另一项操作",
    "would absorb the user's own word": "会吞并用户自己的话",
    "would replace the user's own word": "会取代用户自己的话",
    "would retire the user's own word": "会了结用户自己的话",
    "are of different kinds": "类别不同",
    "are of different kinds or projects": "类别或项目不同",
    "belong to different projects": "属于不同项目",
    "do not say the same": "说的不是同一件事",
    "speak of different things": "说的不是同一件事",
    "is not later than what it replaces": "并不晚于被取代的一条",
    "is not ended by a later one": "没有被更晚的一条了结",
    "is not of a kind that ends by itself": "这一类不会自行了结",
    "is in the profile already": "已在个人档案中",
    "was brought back by the user": "用户已把它恢复到原处",
    "was not said in enough sessions": "说过的会话还不够多",
    "too much for one run": "超过单次上限",
}


@mem_command("dream", "Tidy the memory with a model, now.", "立即用模型整理记忆。")
@click.option("--dry-run", is_flag=True, help=two("Only show what would be done.", "只显示将做什么。"))
def command(session: Session, dry_run: bool) -> None:
    catmem = session.catmem
    catmem.store.catch_up()
    dreamer = catmem.dreamer
    if dreamer is None:
        raise NotFound(
            "no model is configured, so there is nobody to ask; see `mem config set models`",
            "没有配置模型，无从整理；见 `mem config set models`",
        )
    with only_worker(catmem, wait=FOREGROUND_WAIT_SECONDS):
        before = {memory.id: memory for memory in catmem.store.live()}
        dreamt = dreamer.run(catmem.store.projects(), force=True, dry=dry_run)
        if not dry_run:
            catmem.pages.write()
            catmem.index.catch_up(catmem.store, catmem.history)
    session.result({"dry_run": dry_run, "projects": [_record(one) for one in dreamt]})
    if session.as_json:
        return
    if not any(one.done or one.refused or one.error for one in dreamt):
        session.say("nothing to tidy", "没有需要整理的内容")
    for one in dreamt:
        _print(session, one, before)


def _record(one: Dreamt) -> dict[str, Any]:
    return {
        "project": one.project,
        "done": [{"operation": o.name, "ids": [m.id for m in o.touched]} for o in one.done],
        "refused": [{"operation": r.name, "numbers": list(r.numbers), "why": r.why} for r in one.refused],
        "error": one.error,
    }


def _print(session: Session, one: Dreamt, before: dict[str, Memory]) -> None:
    if one.done or one.refused or one.error:
        session.say(one.project or "profile", one.project or "个人档案")
    if one.error:
        session.say(f"  ! {one.error}", f"  ! {one.error_zh}")
    for operation in one.done:
        _print_done(session, operation)
    for refused in one.refused:
        _print_refused(session, refused)


def _print_done(session: Session, operation: Operation) -> None:
    session.say(f"  {operation.name}", f"  {_NAMES[operation.name]}")
    for memory in operation.touched:
        session.say(f"    {memory.id}  {memory.now.text}", f"    {memory.id}  {memory.now.text}")


def _print_refused(session: Session, refused: Refused) -> None:
    numbers = ", ".join(map(str, refused.numbers)) or "-"
    session.say(
        f"  not done: {refused.name} of {numbers}: {refused.why}",
        f"  未执行：{_NAMES[refused.name]} {numbers}：{_WHYS.get(refused.why, refused.why)}",
    )
