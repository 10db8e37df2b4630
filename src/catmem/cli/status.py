"""`mem status`: what is captured, what waits, what fails, and what to do about it."""

from __future__ import annotations

from typing import Any

from catmem.cli.health import Finding, findings_of
from catmem.cli.output import Session, mem_command
from catmem.cli.stats import readable_size, size_of


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
        "clients": _clients(headers),
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


def _print(session: Session, value: dict[str, Any], findings: list[Finding]) -> None:
    size = readable_size(value["bytes"])
    session.say(f"{value['dir']}, {size}", f"{value['dir']}，{size}")
    last = value["last_captured"] or "-"
    session.say(
        f"captured: {value['messages']} messages in {value['sessions']} sessions, the last at {last}",
        f"已采集：{value['sessions']} 个会话、{value['messages']} 条消息，最近一次 {last}",
    )
    doors = ", ".join(f"{client} {count}" for client, count in sorted(value["clients"].items())) or "-"
    session.say(f"doors: {doors}", f"来源：{doors}")
    session.say(f"memories in force: {value['memories']}", f"有效记忆：{value['memories']} 条")
    pending, failing, parked = value["pending"], value["failing"], value["parked"]
    session.say(
        f"waiting to be distilled: {pending} sessions ({failing} failed so far, {parked} given up)",
        f"等待提炼：{pending} 个会话（其中 {failing} 个失败过，另有 {parked} 个已搁置）",
    )
    if value["parked"]:
        session.say("  `mem work --retry` tries again what was given up", "  用 `mem work --retry` 重试已搁置的会话")
    for finding in findings:
        session.say(f"! {finding.en}", f"! {finding.zh}")
