"""`mem project list|merge|split|rename|undo`"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import click

from catmem.cli.drives import tell_drives
from catmem.cli.output import Session, counted, mem_command, mem_group, two
from catmem.cli.usage import Group
from catmem.domain.clock import local_day
from catmem.domain.errors import BadInput, NotFound
from catmem.wiring import Catmem

command = mem_group(
    "project",
    Group,
    "List projects, join two of them, part them again, name them.",
    "列出、合并、拆分和命名项目。",
)

# A beginning shorter than this would fit by chance.
_LEAST_BEGINNING = 4


@dataclass(slots=True)
class Entry:
    """A project with what is kept under its own key."""

    key: str
    name: str = ""
    sessions: int = 0
    messages: int = 0
    memories: int = 0
    updated_at: str = ""
    folders: list[str] = field(default_factory=list)
    into: str = ""

    def record(self) -> dict[str, Any]:
        return {
            name: getattr(self, name)
            for name in ("key", "name", "sessions", "messages", "memories", "updated_at", "folders")
        }


def entries_of(catmem: Catmem) -> dict[str, Entry]:
    """Every project that has sessions or memories, or that a merge names, by key."""
    known = catmem.projects.refresh()
    entries: dict[str, Entry] = {}

    def entry(key: str) -> Entry:
        return entries.setdefault(key, Entry(key, known.names.get(key, "")))

    for header in catmem.history.headers():
        of = entry(header.ref.project)
        of.sessions += 1
        of.messages += header.count
        of.updated_at = max(of.updated_at, header.updated_at)
    for memory in catmem.store.live():
        if memory.now.scope != "global":
            of = entry(memory.project)
            of.memories += 1
            of.updated_at = max(of.updated_at, memory.updated_at)
    for key, home in known.homes.items():
        entry(key).into = home
        entry(home)
    for key in entries:
        entries[key].folders = list(known.seen.get(key, ("", ()))[1])
    return entries


@mem_command(
    "list", "All projects, newest first, with what was merged into them.", "全部项目，最新在前，并列出已并入的项目。"
)
def list_(session: Session) -> None:
    entries = entries_of(session.catmem)
    groups: dict[str, list[Entry]] = {}
    for entry in sorted(entries.values(), key=lambda entry: (bool(entry.into), entry.key)):
        groups.setdefault(entry.into or entry.key, []).append(entry)
    newest = sorted(groups.values(), key=lambda group: max(entry.updated_at for entry in group), reverse=True)
    session.result(
        {"projects": [{**home.record(), "merged": [part.record() for part in parts]} for home, *parts in newest]}
    )
    if session.as_json:
        return
    if not entries:
        session.say("no project has been captured yet", "还没有采集到项目")
    for home, *parts in newest:
        _print(session, home, "")
        for part in parts:
            _print(session, part, "  + ")
    tell_drives(session, session.catmem.history.headers())


def _print(session: Session, entry: Entry, before: str) -> None:
    when = local_day(entry.updated_at) if entry.updated_at else "?"
    name = f"  {entry.name}" if entry.name else ""
    session.say(
        f"{before}{entry.key}{name}  {when}  {counted(entry.sessions, 'session')}, "
        f"{counted(entry.memories, 'memory', 'memories')}",
        f"{before}{entry.key}{name}  {when}  {entry.sessions} 个会话，{entry.memories} 条记忆",
    )
    for folder in entry.folders:
        session.say(f"{' ' * len(before)}    {folder}", f"{' ' * len(before)}    {folder}")


@mem_command(
    "merge",
    "Make a project part of another; nothing is moved, and `mem project undo` takes it back.",
    "把一个项目并入另一个；不移动任何内容，可用 `mem project undo` 撤销。",
)
@click.argument("key")
@click.argument("into")
def merge(session: Session, key: str, into: str) -> None:
    entries = entries_of(session.catmem)
    part, home = chosen(entries, key), chosen(entries, into)
    session.catmem.projects.merge(part.key, home.key)
    now_home = session.catmem.projects.registry().home(part.key)
    session.result({"merged": part.key, "into": now_home, "sessions": part.sessions, "memories": part.memories})
    if not session.as_json:
        session.say(
            f"{part.key} is part of {now_home} now, with {counted(part.sessions, 'session')} and "
            f"{counted(part.memories, 'memory', 'memories')}",
            f"{part.key} 已并入 {now_home}，含 {part.sessions} 个会话、{part.memories} 条记忆",
        )
        _say_how_to_undo(session)


@mem_command(
    "split",
    "Take a project out of the one that it was merged into.",
    "把一个项目从它并入的项目中拆出来。",
)
@click.argument("key")
def split(session: Session, key: str) -> None:
    part = chosen(entries_of(session.catmem), key)
    home = session.catmem.projects.split(part.key)
    session.result({"split": part.key, "from": home})
    if not session.as_json:
        session.say(
            f"{part.key} is on its own again; what was said since the merge stays in {home}",
            f"{part.key} 已重新独立；合并之后说过的内容留在 {home}",
        )
        _say_how_to_undo(session)


@mem_command("rename", "Call a project something else; its key stays.", "给项目另起名称；键保持不变。")
@click.argument("key")
@click.argument("name", required=False)
@click.option("--reset", is_flag=True, help=two("Give it the name of its folder again.", "恢复为文件夹的名称。"))
def rename(session: Session, key: str, name: str | None, reset: bool) -> None:
    new = " ".join((name or "").split())
    if bool(new) == reset:
        raise BadInput(
            "say the new name, or --reset: `mem project rename KEY NAME`",
            "请给出新名称，或用 --reset：`mem project rename 键 名称`",
        )
    project = chosen(entries_of(session.catmem), key)
    session.catmem.projects.rename(project.key, session.catmem.redact(new, "said"))
    now = session.catmem.projects.registry().names.get(project.key, "")
    session.result({"key": project.key, "name": now})
    if not session.as_json:
        session.say(f"{project.key} is called {now or project.key} now", f"{project.key} 现在叫 {now or project.key}")
        _say_how_to_undo(session)


@mem_command("undo", "Take back the last merge, split or rename.", "撤销最近一次合并、拆分或重命名。")
def undo(session: Session) -> None:
    key = session.catmem.projects.undo()
    known = session.catmem.projects.registry()
    session.result({"key": key, "into": known.homes.get(key, ""), "name": known.names.get(key, "")})
    if not session.as_json:
        home = known.homes.get(key, "")
        session.say(
            f"taken back; {key} is part of {home}" if home else f"taken back; {key} is on its own",
            f"已撤销；{key} 属于 {home}" if home else f"已撤销；{key} 是独立的项目",
        )
        _say_how_to_undo(session)


def _say_how_to_undo(session: Session) -> None:
    session.note("`mem project undo` takes this back", "可用 `mem project undo` 撤销")


def chosen(entries: dict[str, Entry], said: str) -> Entry:
    """The project that a user means: its key, its name, or as much of the beginning of its key as is unambiguous.

    Raises NotFound, or BadInput if several projects fit.
    """
    if said in entries:
        return entries[said]
    named = [entry for entry in entries.values() if entry.name and entry.name.casefold() == said.casefold()]
    begun = [e for e in entries.values() if len(said) >= _LEAST_BEGINNING and e.key.startswith(said)]
    fitting = named or begun
    if len(fitting) == 1:
        return fitting[0]
    if not fitting:
        raise NotFound(
            f"no project {said!r}; `mem project list` lists them", f"没有项目 {said!r}；用 `mem project list` 查看"
        )
    some = ", ".join(sorted(entry.key for entry in fitting)[:5])
    raise BadInput(
        f"{said!r} fits {len(fitting)} projects: {some}; give the whole key",
        f"{said!r} 对应 {len(fitting)} 个项目：{some}；请给出完整的键",
    )


for _verb in (list_, merge, split, rename, undo):
    command.add_command(_verb)
