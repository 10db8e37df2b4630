"""What `mem import` without a path finds on this machine, shown before anything of it is read in."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from catmem.capture.importing import Importer, ImportReport
from catmem.cli.output import Session, counted
from catmem.clients.catalogue import CLIENTS
from catmem.clients.places import enclosing, places_of
from catmem.domain.errors import CatmemError, NotConfirmed


@dataclass(frozen=True, slots=True)
class Found:
    """The places of one client, and what an import of them would bring."""

    client: str
    paths: tuple[Path, ...]
    report: ImportReport

    def record(self) -> dict[str, object]:
        counts = self.report.record()
        counts["problems"] = len(self.report.problems)
        return {"client": self.client, "paths": [str(path) for path in self.paths], **counts}


def find(session: Session, source: str, importer: Callable[[], Importer]) -> list[Found]:
    """The clients of which there is something; `importer` makes one that only counts."""
    workspaces = [*enclosing(Path.cwd()), *_known_folders(session)]
    found = []
    for client in CLIENTS if source == "auto" else [name for name in CLIENTS if name == source]:
        paths = places_of(client, home=Path.home(), environment=os.environ, workspaces=workspaces)
        if not paths:
            continue
        report = importer().run(paths, client)
        if report.sessions:
            found.append(Found(client, tuple(paths), report))
    return found


def _known_folders(session: Session) -> list[Path]:
    """The folders of the sessions that are kept already: some assistants keep their history there."""
    try:
        named = {str(header.metadata.get("cwd", "")) for header in session.catmem.history.headers()}
    except CatmemError:
        return []
    return [Path(name) for name in sorted(named) if name and Path(name).is_absolute()]


def total(found: list[Found]) -> ImportReport:
    """What was counted, of all clients together."""
    whole = ImportReport()
    for report in (one.report for one in found):
        whole.sessions += report.sessions
        whole.messages_new += report.messages_new
        whole.messages_known += report.messages_known
        whole.tokens += report.tokens
        whole.problems += report.problems
        whole.failed += report.failed
    return whole


def show(session: Session, found: list[Found]) -> None:
    """A line a client."""
    if not found:
        session.say(
            "no history of another tool was found on this machine; name a file or a folder to import",
            "这台机器上没有发现其他工具的记录；请指明要导入的文件或文件夹",
        )
    for one in found:
        new, known, where = one.report.messages_new, one.report.messages_known, ", ".join(map(str, one.paths))
        session.say(
            f"{one.client:<12} {counted(one.report.sessions, 'session')}: {counted(new, 'message')} new, "
            f"{known} known already  ({where})",
            f"{one.client:<12} {one.report.sessions} 个会话：新消息 {new} 条，{known} 条已存在（{where}）",
        )


def ask(session: Session, found: list[Found]) -> None:
    """Raises NotConfirmed unless the person says yes."""
    sessions = sum(one.report.sessions for one in found)
    if not session.confirm(f"import {counted(sessions, 'session')}?", f"导入 {sessions} 个会话？"):
        raise NotConfirmed("nothing was imported", "未导入任何内容")


def tell_cost(session: Session, tokens: int) -> None:
    """What distilling would cost. With no model it is rules and a small classifier on this machine."""
    if not session.catmem.settings.models:
        session.say("distilling costs no tokens: no model is configured", "提炼不消耗 token：未配置模型")
        return
    session.say(
        f"distilling costs at most about {tokens} tokens with the configured model; none without one",
        f"用已配置的模型提炼最多约需 {tokens} 个 token；不用模型则不消耗",
    )
