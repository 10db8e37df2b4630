"""From a working directory to its project. Reads a few small files of git; starts no process (hot path)."""

from __future__ import annotations

import os
from collections import namedtuple

from catmem.domain.project import (
    is_foreign_path,
    path_identity,
    path_name,
    project_key,
    remote_identity,
)

Project = namedtuple("Project", "key name root")
"""`key` names the project everywhere; `name` is for people; `root` is its main folder as a path."""

# Worktrees that assistants make lie here; when one is deleted, its path still names the repository.
_ASSISTANT_WORKTREES = (os.sep + ".claude" + os.sep + "worktrees" + os.sep,)


def project_of(cwd: str, project_roots: tuple[str, ...] | list[str] = ()) -> Project:
    """The project of `cwd`: its repository (whatever worktree or subfolder), a configured root, or itself.

    A repository with a remote is the same project wherever it lies; without one it is its main folder.
    Never raises: a folder that is gone or cannot be read is named by its path.
    """
    if is_foreign_path(cwd):
        identity = path_identity(cwd)
        return Project(project_key(path_name(cwd), identity), path_name(cwd), cwd)
    for marker in _ASSISTANT_WORKTREES:
        cwd = cwd.split(marker)[0] if marker in cwd and not os.path.isdir(cwd) else cwd
    folder = os.path.realpath(cwd)
    repository, git = _repository(folder)
    root = _configured_root(folder, project_roots)
    if repository and (root is None or len(repository) > len(root)):
        remote = _remote(git)
        if remote:
            return Project(project_key(path_name(remote), remote), path_name(remote), repository)
        folder = repository
    elif root is not None:
        folder = root
    name = path_name(folder)
    return Project(project_key(name, path_identity(folder)), name, folder)


def _configured_root(folder: str, project_roots: tuple[str, ...] | list[str]) -> str | None:
    roots = [os.path.realpath(os.path.expanduser(root)) for root in project_roots]
    inside = [root for root in roots if folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)]
    return max(inside, key=len, default=None)


def _repository(folder: str) -> tuple[str, str]:
    """The main folder of the repository around `folder` and its git directory, or two empty strings."""
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isdir(git):
            return folder, git
        if os.path.isfile(git):
            return _linked(folder, git)
        parent = os.path.dirname(folder)
        if parent == folder:
            return "", ""
        folder = parent


def _linked(folder: str, link: str) -> tuple[str, str]:
    """A worktree belongs to its main checkout; a submodule is a project of its own."""
    target = _first_line(link).removeprefix("gitdir:").strip()
    git = os.path.realpath(os.path.join(folder, target)) if target else link
    common = _first_line(os.path.join(git, "commondir"))
    if not common:
        return folder, git
    main = os.path.realpath(os.path.join(git, common))
    return (os.path.dirname(main) if os.path.basename(main) == ".git" else main), main


def _remote(git: str) -> str:
    """The identity of remote `origin`, or of the first remote, or an empty string."""
    section = ""
    urls: dict[str, str] = {}
    for line in _lines(os.path.join(git, "config")):
        line = line.strip()
        if line.startswith("["):
            section = line
        elif section.startswith("[remote ") and line.partition("=")[0].strip() == "url":
            urls.setdefault(section, line.partition("=")[2].strip().strip('"'))
    url = urls.get('[remote "origin"]') or next(iter(urls.values()), "")
    return remote_identity(url) if url else ""


def _first_line(path: str) -> str:
    lines = _lines(path)
    return lines[0].strip() if lines else ""


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            # A git config is a few kilobytes; whatever is larger is not one.
            return file.read(1 << 20).split("\n")
    except OSError:
        return []
