"""What all ledgers together say of projects: which were merged, how they are called, where they were seen.

Lines keep the project that they were written with. A merge is a line of its own that maps one key to another; whoever
reads by project asks for all keys that lead to it. So a merge moves nothing, and is undone by another line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from catmem.domain.change import Change


@dataclass(frozen=True, slots=True)
class ProjectFacts:
    """What is known of the project of a key.

    into     the key of the project that it is part of; "" for none
    name     what the user calls it; "" if he has not said
    label    what its folder or remote was called when first seen
    root     its first commit; "" without git
    folders  where its main folder was seen, oldest first
    decided  the user has said himself whether it is part of another: no job says otherwise
    """

    key: str
    into: str = ""
    name: str = ""
    label: str = ""
    root: str = ""
    folders: tuple[str, ...] = field(default=())
    decided: bool = False


def facts_of(changes: Iterable[Change]) -> dict[str, ProjectFacts]:
    """The facts of each project that a line names, whatever the order in which lines arrive."""
    facts: dict[str, ProjectFacts] = {}
    for change in _in_order(changes):
        said = change.project or {}
        known = facts.get(said["key"], ProjectFacts(said["key"]))
        facts[known.key] = _with(known, said, by_user=change.by == "user")
    return facts


def homes_of(facts: Mapping[str, ProjectFacts]) -> dict[str, str]:
    """key -> the project that it is part of in the end; keys that are their own are left out.

    Two devices may have merged two projects into each other: the key that sorts first is the home then.
    """
    homes = {}
    for key in facts:
        home = _home(facts, key)
        if home != key:
            homes[key] = home
    return homes


def taken_back(changes: Iterable[Change]) -> dict[str, str] | None:
    """What the line must say that takes back the user's last word on a project; None if there is none."""
    lines = list(_in_order(changes))
    last = next((line for line in reversed(lines) if line.by == "user" and line.project), None)
    if last is None or last.project is None:
        return None
    key = last.project["key"]
    before = facts_of(line for line in lines if line is not last).get(key, ProjectFacts(key))
    return {"key": key, **{name: str(getattr(before, name)) for name in ("into", "name") if name in last.project}}


def _in_order(changes: Iterable[Change]) -> list[Change]:
    lines = [change for change in changes if change.op == "project" and change.project]
    return sorted(lines, key=lambda line: (line.at, line.device, line.seq))


def _with(known: ProjectFacts, said: Mapping[str, str], *, by_user: bool) -> ProjectFacts:
    into, decided = known.into, known.decided
    if "into" in said and (by_user or not decided):
        into, decided = said["into"], by_user
    folder = said.get("folder", "")
    return replace(
        known,
        into=into,
        decided=decided,
        name=said.get("name", known.name) if by_user else known.name,
        # The spelling first seen stays: another spelling of one Windows folder is no other name.
        label=known.label or said.get("label", ""),
        root=said.get("root") or known.root,
        folders=(*known.folders, folder) if folder and folder not in known.folders else known.folders,
    )


def _home(facts: Mapping[str, ProjectFacts], key: str) -> str:
    way = [key]
    while (known := facts.get(way[-1])) and known.into:
        if known.into in way:
            return min(way[way.index(known.into) :])
        way.append(known.into)
    return way[-1]
