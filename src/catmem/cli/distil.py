"""`mem distil SESSION`: one session distilled anew, now, with the model if there is one; `--explain` says why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from catmem.cli.output import Session, counted, mem_command, two
from catmem.cli.reasons import reasons
from catmem.cli.words import word
from catmem.cli.work import FOREGROUND_WAIT_SECONDS, only_worker
from catmem.distil.distiller import Judged
from catmem.distil.model.record import Record
from catmem.distil.worker import Settled
from catmem.domain.errors import BadInput, NotFound
from catmem.domain.session import SessionHeader
from catmem.text.cut import preview

_OUTCOMES = {
    "rules": ("by the rules alone; no model is configured", "仅用规则；未配置模型"),
    "model": ("with the model", "规则与模型结合"),
    "degraded": (
        "by the rules alone, since the model failed; `mem work --retry` asks it again",
        "模型失败，仅用规则；用 `mem work --retry` 重新询问",
    ),
}


@mem_command("distil", "Distil one session anew; --explain says why.", "重新提炼一个会话；--explain 说明理由。")
@click.argument("key", metavar=two("SESSION", "会话"))
@click.option(
    "--explain",
    is_flag=True,
    help=two("What was kept, refused and not taken from the model, and why.", "列出保留、拒绝和未采纳的内容及理由。"),
)
def command(session: Session, key: str, explain: bool) -> None:
    catmem = session.catmem
    header = _chosen(list(catmem.history.headers()), key)
    with only_worker(catmem, wait=FOREGROUND_WAIT_SECONDS):
        catmem.store.catch_up()
        settled = catmem.distiller.again(header)
        catmem.pages.write()
        catmem.index.catch_up(catmem.store, catmem.history)
    outcome = _outcome(settled)
    claims = [claim for part in settled for claim in part.proposal.claims]
    value: dict[str, Any] = {
        "session": header.key,
        "project": header.ref.project,
        "with": outcome,
        "tokens": sum(part.heard.tokens for part in settled),
        "memories": [{"id": claim.id, "kind": claim.kind, "text": claim.text} for claim in claims],
        "retired": [id for part in settled for id in part.proposal.retired],
    }
    if explain:
        for name in ("kept", "refused", "unheeded"):
            value[name] = [_record(it) for part in settled for it in getattr(part.proposal, name)]
    session.result(value)
    if not session.as_json:
        _print(session, value, settled, explain)
        if outcome == "degraded":
            _print_trouble(session, header)


def _chosen(headers: Sequence[SessionHeader], wanted: str) -> SessionHeader:
    """The session with this key, or the one whose key begins so, with or without the client's name."""
    found = [header for header in headers if header.key == wanted] or [
        header
        for header in headers
        if wanted and (header.key.startswith(wanted) or header.key.partition(":")[2].startswith(wanted))
    ]
    if not found:
        raise NotFound(
            f"no session {wanted}; list them with `mem sessions`", f"没有会话 {wanted}；用 `mem sessions` 查看"
        )
    if len(found) > 1:
        names = [f"{header.key} ({header.ref.project})" for header in found[:5]]
        raise BadInput(
            f"{wanted!r} may be one of several: {', '.join(names)}", f"{wanted!r} 对应多个会话：{'、'.join(names)}"
        )
    return found[0]


def _outcome(settled: Sequence[Settled]) -> str:
    outcomes = [part.heard.outcome for part in settled]
    return "degraded" if "degraded" in outcomes else "rules" if "rules" in outcomes else "model"


def _record(judged: Judged) -> dict[str, object]:
    return {"message": judged.message_id, "text": judged.unit.text, "why": judged.why}


def _print(session: Session, value: dict[str, Any], settled: Sequence[Settled], explain: bool) -> None:
    en, zh = _OUTCOMES[value["with"]]
    session.say(f"{value['session']}: {en}", f"{value['session']}：{zh}")
    if value["tokens"]:
        session.say(f"{value['tokens']} tokens", f"用了 {value['tokens']} 个词元")
    count = len(value["memories"])
    session.say(counted(count, "memory", "memories"), f"{count} 条记忆")
    for memory in value["memories"]:
        session.say(
            f"  {memory['id']} [{memory['kind']}] {memory['text']}",
            f"  {memory['id']} [{word(memory['kind'], 'zh')}] {memory['text']}",
        )
    if explain:
        _print_reasons(session, "kept:", "保留：", [it for part in settled for it in part.proposal.kept])
        _print_reasons(session, "refused:", "拒绝：", [it for part in settled for it in part.proposal.refused])
        _print_reasons(
            session, "not taken of what the model said:", "模型所说但未采纳：",
            [it for part in settled for it in part.proposal.unheeded],
        )  # fmt: skip


def _print_trouble(session: Session, header: SessionHeader) -> None:
    """How the model failed: it could not be asked, or what it said was of no use."""
    record = Record(session.catmem.paths)
    trouble = record.last_trouble()
    if header.ref in record.missed_for("") or not trouble:
        session.say(
            "! its answers could not be used; `mem review` shows them",
            "! 模型的回答无法使用；用 `mem review` 查看",
        )
    else:
        session.say(f"! {trouble['en']}", f"! {trouble['zh']}")


def _print_reasons(session: Session, en: str, zh: str, judged: Sequence[Judged]) -> None:
    if judged:
        session.say(en, zh)
    for it in judged:
        line = f"  #{it.message_id} {preview(it.unit.text)}\n      "
        session.say(line + it.why, line + reasons(it.why, "zh"))
