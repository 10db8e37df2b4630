"""`mem export`"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from catmem.cli.output import Session, counted, json_text, mem_command, two, write
from catmem.domain.clock import now
from catmem.domain.errors import StorageFailed
from catmem.sessions.branches import own_header, own_messages
from catmem.sessions.reading import SessionContent
from catmem.sessions.records import header_record, message_to_record
from catmem.settings.paths import write_private
from catmem.store.records import export_entries
from catmem.wiring import Catmem

FORMAT = "catmem-export/1"


@mem_command("export", "Write all memories as one JSON object.", "把全部记忆导出为一个 JSON 对象。")
@click.argument("file", required=False, type=click.Path(dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--messages", is_flag=True, help=two("Include every message.", "包含全部消息。"))
@click.option(
    "--project", metavar="P", help=two("Only this project (and the profile).", "只导出该项目（及个人档案）。")
)
def command(session: Session, file: Path | None, messages: bool, project: str | None) -> None:
    made = export_of(session.catmem, messages, project)
    if file is None or str(file) == "-":
        write(json_text(made, indent=None if session.as_json else 1) + "\n")
        return
    text = json.dumps(made, ensure_ascii=False, indent=1) + "\n"
    try:
        write_private(file, text.encode())
    except OSError as error:
        raise StorageFailed(
            f"cannot write {file}: {error.strerror}; choose another place",
            f"无法写入 {file}：{error.strerror}；请换个位置",
        ) from error
    counts = len({entry["id"] for entry in made["memories"]}), len(made["sessions"])
    session.result({"file": str(file), "memories": counts[0], "sessions": counts[1]})
    if not session.as_json:
        session.say(
            f"{counted(counts[0], 'memory', 'memories')} and {counted(counts[1], 'session')} written to {file}",
            f"已将 {counts[0]} 条记忆和 {counts[1]} 个会话写入 {file}",
        )


def _with_messages(content: SessionContent) -> dict[str, Any]:
    """A session with the messages that are its own: a fork's beginning is in the session that it left."""
    record = header_record(own_header(content))
    record["messages"] = [message_to_record(message) for message in own_messages(content)]
    return record


def export_of(catmem: Catmem, messages: bool, project: str | None) -> dict[str, Any]:
    """The export of design 10: memories in a stable order, line 1 of each session, and what was said of projects."""
    catmem.store.catch_up()
    members = catmem.projects.registry().members(project) if project is not None else ()
    memories = [
        entry
        for memory in catmem.store.all()
        if project is None or memory.project in members or memory.now.scope == "global"
        for entry in export_entries(memory)
    ]
    sessions = []
    for header in sorted(catmem.history.headers(project), key=lambda h: h.ref):
        sessions.append(_with_messages(catmem.history.read(header.ref)) if messages else header_record(header))
    made = {"format": FORMAT, "exported_at": now(catmem.clock), "memories": memories, "sessions": sessions}
    of_projects = catmem.projects.entries(members if project is not None else None)
    return {**made, "projects": of_projects} if of_projects else made
