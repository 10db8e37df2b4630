"""From a working directory to its project. Reads a few small files of git; starts no process (hot path)."""

from __future__ import annotations

import os
from collections import namedtuple

from catmem.domain.project import (
    is_foreign_path,
    path_identity,
    path_name,
    project_key,
    remote_folder,
    remote_identity,
    without_worktree,
)

Project = namedtuple("Project", "key name root")
"""`key` names the project everywhere; `name` is for people; `root` is its main folder as a path."""


def project_of(cwd: str, project_roots: tuple[str, ...] | list[str] = ()) -> Project:
    """The project of `cwd`: its repository (whatever worktree or subfolder), a configured root, or itself.

    A repository with a remote is the same project wherever it lies; without one it is its main folder.
    Never raises: a folder that is gone or cannot be read is named by its path.
    """
    if is_foreign_path(cwd):
        cwd = without_worktree(cwd)
        identity = path_identity(cwd)
        return Project(project_key(path_name(cwd), identity), path_name(cwd), cwd)
    folder = _real(cwd if os.path.isdir(cwd) else without_worktree(cwd))
    checkout, main, git = _repository(folder)
    root = _configured_root(folder, project_roots)
    # The innermost wins; a root that is the checkout itself adds nothing to what git knows.
    if checkout and (root is None or len(checkout) >= len(root)):
        remote = _remote(git, main)
        if remote:
            return Project(project_key(path_name(remote), remote), path_name(remote), main)
        folder = main
    elif root is not None:
        folder = root
    name = path_name(folder.removesuffix(".git"))
    return Project(project_key(name, path_identity(folder)), name, folder)


def first_commit(folder: str) -> str:
    """The commit that a repository began with, as the log of its HEAD tells; "" if that log is gone or tells no such.

    Only a repository that was begun here has it; of others `git` must be asked.
    """
    checkout, main, git = _repository(_real(folder))
    if not checkout or main != folder:
        return ""
    said = _first_line(os.path.join(git, "logs", "HEAD"))
    commits, _, what = said.partition("\t")
    words = commits.split(" ")
    return words[1] if what.startswith("commit (initial)") and len(words) > 1 else ""


def is_repository(folder: str) -> bool:
    """True if a folder is the main one of a repository still; false for a foreign path, which cannot be asked."""
    return os.path.exists(os.path.join(folder, ".git")) or os.path.isfile(os.path.join(folder, "HEAD"))


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        # The working directory itself is gone, or the path cannot be one.
        return path


def _configured_root(folder: str, project_roots: tuple[str, ...] | list[str]) -> str | None:
    roots = [_real(os.path.expanduser(root)) for root in project_roots if root.strip()]
    inside = [root for root in roots if folder == root or folder.startswith(root.rstrip(os.sep) + os.sep)]
    return max(inside, key=len, default=None)


def _repository(folder: str) -> tuple[str, str, str]:
    """The checkout around `folder`, the main folder of its repository, and its git directory; or empty strings."""
    while True:
        git = os.path.join(folder, ".git")
        if os.path.isfile(os.path.join(git, "HEAD")):
            return folder, folder, git
        if os.path.isfile(git):
            return folder, *_linked(folder, git)
        parent = os.path.dirname(folder)
        if parent == folder:
            return "", "", ""
        folder = parent


def _linked(folder: str, link: str) -> tuple[str, str]:
    """A worktree belongs to its main checkout; a submodule is a project of its own."""
    kind, _, target = _first_line(link).partition(":")
    if kind != "gitdir" or not target.strip():
        return folder, link
    git = _real(os.path.join(folder, target.strip()))
    common = _first_line(os.path.join(git, "commondir"))
    if common:
        git = _real(os.path.join(git, common))
        return _main_folder(git), git
    return (_main_folder(git) if os.path.dirname(git) == folder and os.path.isdir(git) else folder), git


def _main_folder(git: str) -> str:
    """The folder that a common git directory stands for: `app/.git` and `app/.bare` are app, `app.git` is itself."""
    worktree = _config(git).get(("core", "worktree"))
    if worktree:
        # A submodule's, whose directory lies within the repository above it.
        return _real(os.path.join(git, worktree))
    return os.path.dirname(git) if os.path.basename(git).startswith(".") else git


def _remote(git: str, main: str) -> str:
    """The identity of remote `origin`, or of the first remote, or an empty string."""
    config = _config(git)
    urls = {section: value for (section, name), value in config.items() if name == "url" and section[:6] == "remote"}
    url = urls.get('remote "origin"') or next(iter(urls.values()), "")
    folder = remote_folder(url)
    if not folder:
        return remote_identity(url)
    if is_foreign_path(folder):
        return path_identity(folder).removesuffix(".git")
    # Relative to the repository, so that two of them beside a `../origin` each are two.
    return _real(os.path.join(main, os.path.expanduser(folder))).removesuffix("/.git").removesuffix(".git")


def _config(git: str) -> dict[tuple[str, str], str]:
    """Values of a git config by section and name; the first of several counts."""
    section = ""
    values: dict[tuple[str, str], str] = {}
    for line in _lines(os.path.join(git, "config")):
        line = line.strip()
        if line.startswith("["):
            head, _, line = line.partition("]")
            kind, quote, name = head[1:].strip().partition(' "')
            section = kind.strip().lower() + quote + name
            line = line.strip()
        key, found, value = line.partition("=")
        if found and not line.startswith(("#", ";")):
            values.setdefault((section, key.strip().lower()), _value(value))
    return values


def _value(text: str) -> str:
    text = text.strip()
    if text.startswith('"'):
        return text[1:].partition('"')[0]
    for comment in (" #", " ;", "\t#", "\t;"):
        text = text.partition(comment)[0]
    return text.strip()


def _first_line(path: str) -> str:
    lines = _lines(path, 1 << 12)
    return lines[0].strip() if lines else ""


def _lines(path: str, most: int = 1 << 20) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            # A git config is a few kilobytes; whatever is larger is not one.
            return file.read(most).split("\n")
    except (OSError, ValueError):
        return []
