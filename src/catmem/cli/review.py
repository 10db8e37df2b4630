"""`mem review`: answers of a model that could not be used, and the sessions that were distilled without it since."""

from __future__ import annotations

from dataclasses import asdict

import click

from catmem.cli.output import Session, counted, local_minute, mem_command, two
from catmem.cli.work import FOREGROUND_WAIT_SECONDS, only_worker
from catmem.distil.model.record import ParkedAnswer, Record
from catmem.text.cut import preview


@mem_command("review", "Answers of a model that could not be used.", "查看模型给出的无法使用的回答。")
@click.option("--drop", is_flag=True, help=two("Drop them after showing them.", "显示后删除。"))
def command(session: Session, drop: bool) -> None:
    catmem = session.catmem
    record = Record(catmem.paths)
    parked, missed = record.parked(), sorted(record.missed())
    session.result(
        {
            "parked": [asdict(answer) for answer in parked],
            "missed": [{"project": ref.project, "session": ref.key} for ref in missed],
        }
    )
    if not session.as_json:
        for answer in parked:
            _print(session, answer)
        if not parked:
            session.say("no answer waits for review", "没有待查看的回答")
        if missed:
            session.say(
                f"{counted(len(missed), 'session')} distilled by the rules alone since the model failed; "
                "`mem work --retry` asks it again",
                f"{len(missed)} 个会话因模型失败仅用规则提炼；用 `mem work --retry` 重新询问",
            )
    if drop and parked:
        with only_worker(catmem, wait=FOREGROUND_WAIT_SECONDS):
            record.drop(lambda answer: answer in parked)


def _print(session: Session, answer: ParkedAnswer) -> None:
    where = f"{answer.session} #{answer.first_id}–{answer.last_id}"
    when = local_minute(answer.at)
    session.say(
        f"{when}  {where}: {answer.fault} ({answer.reasons})", f"{when}  {where}：{answer.fault}（{answer.reasons}）"
    )
    for line in answer.raw.splitlines()[:10]:
        session.say(f"    {preview(line, 110)}", f"    {preview(line, 110)}")
