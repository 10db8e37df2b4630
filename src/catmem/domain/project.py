"""Which project a folder belongs to, as pure rules: the reading of the disk is done in settings/workspace."""

from __future__ import annotations

import re

from catmem.domain.hashing import short_hash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

GLOBAL_PROJECT = ""
"""The project of the profile: none."""


def project_key(name: str, identity: str) -> str:
    """A readable key that differs where the identity does: `webshop-3f2a9c1d`."""
    return f"{_readable(name)}-{short_hash(identity, 4)}"


def folder_key(folder: str) -> str:
    """The key of a project that nothing but its main folder names."""
    return project_key(path_name(folder.removesuffix(".git")), path_identity(folder))


def former_home(
    seen: Mapping[str, tuple[str, Sequence[str]]],
    homes: Mapping[str, str],
    key: str,
    root: str,
    folder: str,
    is_there: Callable[[str], bool],
) -> str:
    """Where a repository that has a new key was at home before it was moved or got another remote; else "".

    seen      key -> (root commit, folders that were its main one), of every project known
    homes     key -> the key of the project that it is part of
    root      the first commit of the repository, `folder` its main folder now
    is_there  whether a folder is a repository still

    A copy beside the original is a project of its own, so is a second clone, and where several projects could be
    meant, none is.
    """
    if not root or key in seen:
        return ""
    groups: dict[str, list[tuple[str, str]]] = {}
    for other, (first, folders) in seen.items():
        if first == root:
            groups.setdefault(homes.get(other, other), []).extend((other, place) for place in folders)
    moved = key == folder_key(folder)
    found = [
        home
        for home, places in groups.items()
        if (any(place == folder for _, place in places) or (moved and any(folder_key(p) == k for k, p in places)))
        and not any(place != folder and is_there(place) for _, place in places)
    ]
    return found[0] if len(found) == 1 else ""


def _readable(name: str) -> str:
    kept = re.sub(r"[^\w.-]+", "-", name.strip().lower()).strip("-.")
    return kept[:40] or "project"


def remote_identity(url: str) -> str:
    """One spelling for every way to write a remote: scheme, user, port, case of the host, `.git` do not matter.

    `git@github.com:Acme/Shop.git` and `https://token@github.com:443/Acme/Shop` are `github.com/Acme/Shop`.
    Credentials never get into an identity. Empty for a remote that is a folder: the disk must be asked about it.
    """
    text = url.strip()
    full = re.match(_URL, text)
    if full:
        host, path = full["host"].rpartition("@")[2], full["path"]
    else:
        short = re.match(_SCP, text)
        if not short:
            return ""
        host, path = short["host"].rpartition("@")[2], short["path"]
    host = re.sub(r":\d*$", "", host).lower()
    path = re.split(r"[?#]", path)[0].strip("/").removesuffix(".git").strip("/")
    return f"{host}/{path}" if host and path else ""


def remote_folder(url: str) -> str:
    """The folder that a remote names (`/srv/shop.git`, `../shop`, `file:///srv/shop`), as written; else empty."""
    text = url.strip()
    if text.lower().startswith("file:"):
        return "/" + text[5:].lstrip("/")
    return "" if remote_identity(text) or "://" in text else text


# Patterns as texts: `re` compiles and keeps each on first use, and a hook on a plain path needs none of them.
_URL = r"(?i)(?!file:)[a-z][a-z0-9+.-]*://(?P<host>[^/]*)/(?P<path>.+)$"
# `host:path`; a drive letter is no host, and what has a slash before its colon is a path.
_SCP = r"(?i)(?!file:)(?P<host>(?:[^/\\]*@)?(?:\[[0-9A-Fa-f:]+\]|[^/\\:@]{2,})):(?!//)(?P<path>.+)$"
_WINDOWS = r"^(?:\\\\\?\\)?([A-Za-z]):(?:[\\/]|$)"
_WSL_SHARE = r"(?i)^\\\\wsl(?:\$|\.localhost)\\([^\\]+)\\?(.*)$"
_WSL_DRIVE = r"^/mnt/([a-z])(?:/|$)"


def is_foreign_path(path: str) -> bool:
    """True for a path of Windows (drive, UNC, `\\\\wsl$`), which the rules of this machine must not touch."""
    return not path.startswith("/") and (path.startswith("\\\\") or bool(re.match(_WINDOWS, path)))


def path_identity(path: str, map_wsl_drives: bool = False) -> str:
    r"""One spelling for one folder, whichever system named it.

    Windows paths: case, slash direction, trailing slash and `\\?\` do not matter. `\\wsl$\Distro\…` is the
    Linux path of that distribution. `/mnt/d/…` is the drive only when `map_wsl_drives` is on: elsewhere it is
    an ordinary mount.
    """
    if path.startswith("/") and not map_wsl_drives:
        return path.rstrip("/") or "/"
    share = re.match(_WSL_SHARE, path)
    if share:
        return "/" + share[2].replace("\\", "/").strip("/")
    bare = path[4:] if path.startswith("\\\\?\\") else path
    # A share of another machine, in its long form.
    bare = "\\\\" + bare[4:] if bare != path and bare[:4].upper() == "UNC\\" else bare
    if re.match(_WINDOWS, bare) or bare.startswith("\\\\"):
        share_mark = "/" if bare.startswith("\\\\") else ""
        return share_mark + re.sub(r"/+", "/", bare.replace("\\", "/")).rstrip("/").casefold()
    drive = re.match(_WSL_DRIVE, path)
    if drive and map_wsl_drives:
        return f"{drive[1]}:{path[6:].rstrip('/')}".casefold()
    return path.rstrip("/") or "/"


# Worktrees that assistants make lie here; a deleted one's path still names the repository.
_ASSISTANT_WORKTREE = r"(?s)[\\/]\.claude[\\/]worktrees[\\/].*"


def without_worktree(path: str) -> str:
    """A path without the part that leads to an assistant's worktree inside the repository."""
    if "worktrees" not in path:
        return path
    return re.sub(_ASSISTANT_WORKTREE, "", path, count=1) or path


def path_name(path: str) -> str:
    """The last part of a path of any system, spelled as given."""
    parts = [p for p in re.split(r"[\\/]+", path) if p]
    return parts[-1] if parts else "root"
