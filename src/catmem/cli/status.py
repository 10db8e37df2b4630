"""`mem status`: what is captured, what waits, what fails, and what to do about it."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

from catmem.capture.transcript import followed
from catmem.cli.finding import Finding
from catmem.cli.health import findings_of
from catmem.cli.meaning import meaning_of, print_meaning
from catmem.cli.output import Session, counted, local_minute, mem_command
from catmem.cli.reasons import fault
from catmem.cli.spend import models_of, print_models
from catmem.cli.stats import readable_size, size_of
from catmem.clients.hosts import INSTALLABLE, NAMES
from catmem.distil.model.record import Record
from catmem.domain.errors import CatmemError
from catmem.wiring import Catmem


@mem_command("status", "What is captured, pending, failing.", "查看采集、待办与失败情况。")
def command(session: Session) -> None:
    catmem = session.catmem
    catmem.store.catch_up()
    headers = list(catmem.history.headers())
    pending = catmem.queue.pending(headers)
    findings = findings_of(catmem, deep=False)
    last = max((header.updated_at for header in headers), default=None)
    value: dict[str, Any] = {
        "dir": str(catmem.paths.root),
        "bytes": size_of(catmem.paths.root),
        "sessions": len(headers),
        "messages": sum(header.count for header in headers),
        "last_captured": last,
        "memories": catmem.store.counts().get("live", 0),
        "pending": len([job for job in pending if not job.parked]),
        "failing": len([job for job in pending if job.attempts and not job.parked]),
        "parked": len([job for job in pending if job.parked]),
        "models": models_of(catmem),
        "clients": _clients(headers),
        "connected": _connected(session),
        "sources": _sources(catmem),
        "distilling": _distilling(catmem),
        "meaning": meaning_of(catmem),
        "findings": [finding.record() for finding in findings],
    }
    session.result(value)
    if not session.as_json:
        _print(session, value, findings)


def _clients(headers: list[Any]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for header in headers:
        client = str(header.metadata.get("client") or "?")
        counts[client] = counts.get(client, 0) + 1
    return counts


def _connected(session: Session) -> list[dict[str, Any]]:
    """The assistants whose configuration calls us; `current` is false where it calls another installation."""
    connected = []
    for client in INSTALLABLE:
        try:
            installer = session.catmem.installer(client)
            if installer.is_known():
                files = [str(file) for file in installer.files]
                connected.append({"client": client, "files": files, "current": installer.is_installed()})
        except CatmemError:  # `mem install` says what is wrong with it
            continue
    return connected


def _sources(catmem: Catmem) -> list[dict[str, Any]]:
    """The folders with transcripts that the worker reads on, and how many of each; no other file is read unasked."""
    folders = Counter((client, os.path.dirname(str(source["path"]))) for _, client, source in followed(catmem.history))
    return [{"client": client, "folder": folder, "files": count} for (client, folder), count in sorted(folders.items())]


def _distilling(catmem: Catmem) -> dict[str, Any]:
    """How often a model's answer could not be used, by class; what waits for review; what was distilled without it."""
    record = Record(catmem.paths)
    return {"faults": record.counts(), "parked": len(record.parked()), "missed": len(record.missed())}


def _print(session: Session, value: dict[str, Any], findings: list[Finding]) -> None:
    size = readable_size(value["bytes"])
    session.say(f"{value['dir']}, {size}", f"{value['dir']}，{size}")
    _print_connected(session, value)
    _print_captured(session, value)
    for source in value["sources"]:
        folder, files = source["folder"], counted(source["files"], "transcript")
        session.say(f"read on: {files} in {folder}", f"持续读取：{folder} 中的 {source['files']} 个会话记录")
    memories = value["memories"]
    session.say(f"memories in force: {memories}", f"有效记忆：{memories} 条")
    pending, failing, parked = value["pending"], value["failing"], value["parked"]
    troubles_en = ([f"{failing} failed so far"] if failing else []) + ([f"{parked} given up"] if parked else [])
    troubles_zh = ([f"{failing} 个失败过"] if failing else []) + ([f"{parked} 个已搁置"] if parked else [])
    session.say(
        f"waiting to be distilled: {counted(pending, 'session')}" + "".join(f", {t}" for t in troubles_en),
        f"等待提炼：{pending} 个会话" + "".join(f"，{t}" for t in troubles_zh),
    )
    if pending:
        session.say("  `mem work` distils them now", "  用 `mem work` 立即提炼")
    if parked:
        session.say("  `mem work --retry` tries again what was given up", "  用 `mem work --retry` 重试已搁置的会话")
    print_models(session, value["models"])
    _print_distilling(session, value["distilling"])
    print_meaning(session, value["meaning"])
    for finding in findings:
        session.say(f"! {finding.en}", f"! {finding.zh}")


def _print_distilling(session: Session, model: dict[str, Any]) -> None:
    if model["faults"]:
        en, zh = ([f"{fault(name, language)} {count}" for name, count in model["faults"].items()]
                  for language in ("en", "zh"))  # fmt: skip
        session.say(f"faults of the model: {', '.join(en)}", f"模型的问题：{'，'.join(zh)}")
    if model["parked"]:
        session.say(
            f"  {counted(model['parked'], 'answer')} to look at with `mem review`",
            f"  {model['parked']} 个回答待查看；用 `mem review` 查看",
        )
    if model["missed"]:
        session.say(
            f"  {counted(model['missed'], 'session')} distilled by the rules alone; `mem work --retry` asks the model again",
            f"  {model['missed']} 个会话仅用规则提炼；用 `mem work --retry` 重新询问模型",
        )


def _print_connected(session: Session, value: dict[str, Any]) -> None:
    names = [NAMES[it["client"]] for it in value["connected"]]
    if names:
        session.say(f"connected: {', '.join(names)}", f"已接入：{'、'.join(names)}")
    else:
        session.say("no assistant is connected; `mem install` does it", "尚未接入助手；用 `mem install` 接入")
    for it in value["connected"]:
        if not it["current"]:
            name, client = NAMES[it["client"]], it["client"]
            session.say(
                f"! {name} calls another installation or an older set of hooks; `mem install {client}` renews it",
                f"! {name} 调用的是另一处安装或旧的钩子；用 `mem install {client}` 更新",
            )


def _print_captured(session: Session, value: dict[str, Any]) -> None:
    if not value["sessions"]:
        session.say(
            "nothing has been captured yet; `mem init` says what to do", "还没有采集到任何内容；`mem init` 会提示怎么做"
        )
        return
    last = local_minute(value["last_captured"]) if value["last_captured"] else "?"
    session.say(
        f"captured: {counted(value['messages'], 'message')} in {counted(value['sessions'], 'session')}, last {last}",
        f"已采集：{value['sessions']} 个会话、{value['messages']} 条消息，最近一次 {last}",
    )
    doors = [f"{client} {count}" for client, count in sorted(value["clients"].items())]
    session.say(f"from: {', '.join(doors)}", f"来源：{'，'.join(doors)}")
