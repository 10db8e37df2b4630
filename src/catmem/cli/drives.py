"""One folder of Windows that WSL names otherwise: `D:\\docu2` and `/mnt/d/docu2`.

Nothing proves that the mount is the drive, so they are two projects until the user says that they are one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from catmem.cli.output import Session
from catmem.domain.project import is_foreign_path, path_identity
from catmem.domain.session import SessionHeader


def same_on_a_drive(places: Iterable[tuple[str, str]], homes: Mapping[str, str]) -> list[tuple[str, str, str, str]]:
    """(key, folder in Windows' words, key, the same in those of WSL) of projects that are apart.

    places  (key, folder) of each project
    homes   the key of the project that a key is part of
    """
    known = sorted(set(places))
    drives: dict[str, tuple[str, str]] = {}
    for key, folder in known:
        if is_foreign_path(folder):
            drives.setdefault(path_identity(folder), (homes.get(key, key), folder))
    found: dict[tuple[str, str], tuple[str, str, str, str]] = {}
    for key, folder in known:
        if is_foreign_path(folder):
            continue
        home, there = homes.get(key, key), drives.get(path_identity(folder, map_wsl_drives=True))
        if there and there[0] != home:
            found.setdefault((there[0], home), (*there, home, folder))
    return list(found.values())


def tell_drives(session: Session, headers: Iterable[SessionHeader]) -> None:
    """Says which projects of some sessions are apart although they may be one folder, and how to make them one."""
    homes = session.catmem.projects.registry().homes
    places = [(header.ref.project, str(header.metadata.get("cwd") or "")) for header in headers]
    for key, folder, other, mount in same_on_a_drive(places, homes):
        session.note(
            f"! {folder} and {mount} are two projects: nothing proves that the mount is that drive. "
            f"If it is, `mem project merge {other} {key}` makes them one",
            f"! {folder} 与 {mount} 是两个项目：无法证实该挂载就是那个盘。若是，可用 `mem project merge {other} {key}` 合并",
        )
