"""Which project a folder belongs to, as pure rules: the reading of the disk is done in settings/workspace."""

from __future__ import annotations

import hashlib
import re

GLOBAL_PROJECT = ""
"""The project of the profile: none."""


def project_key(name: str, identity: str) -> str:
    """A readable key that differs where the identity does: `webshop-3f2a9c1d`."""
    digest = hashlib.blake2b(identity.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{_readable(name)}-{digest}"


def _readable(name: str) -> str:
    kept = re.sub(r"[^\w.-]+", "-", name.strip().lower()).strip("-.")
    return kept[:40] or "project"


def remote_identity(url: str) -> str:
    """One spelling for every way to write a remote: scheme, user, port, case of the host, `.git` do not matter.

    `git@github.com:Acme/Shop.git` and `https://token@github.com/Acme/Shop` are `github.com/Acme/Shop`.
    Credentials never get into an identity. A path or file URL stays a path.
    """
    text = url.strip().rstrip("/")
    text = text[:-4] if text.endswith(".git") else text
    scp = re.match(r"^(?:[^@/\\]+@)?([A-Za-z0-9.-]{2,}):(?!//)(?![\\/])(.+)$", text)
    if scp:
        return f"{scp[1].lower()}/{scp[2].strip('/')}"
    full = re.match(r"^[a-z][a-z0-9+.-]*://(?:[^@/]*@)?([^/:]+)(?::\d+)?/(.+)$", text, re.IGNORECASE)
    if full and not text.lower().startswith("file:"):
        return f"{full[1].lower()}/{full[2].strip('/')}"
    return text


_WINDOWS = re.compile(r"^(?:\\\\\?\\)?([A-Za-z]):(?:[\\/]|$)")
_WSL_SHARE = re.compile(r"^\\\\wsl(?:\$|\.localhost)\\([^\\]+)\\?(.*)$", re.IGNORECASE)
_WSL_DRIVE = re.compile(r"^/mnt/([a-z])(?:/|$)")


def is_foreign_path(path: str) -> bool:
    """True for a path of Windows (drive, UNC, `\\\\wsl$`), which the rules of this machine must not touch."""
    return bool(_WINDOWS.match(path)) or path.startswith("\\\\")


def path_identity(path: str, map_wsl_drives: bool = False) -> str:
    r"""One spelling for one folder, whichever system named it.

    Windows paths: case, slash direction, trailing slash and `\\?\` do not matter. `\\wsl$\Distro\…` is the
    Linux path of that distribution. `/mnt/d/…` is the drive only when `map_wsl_drives` is on: elsewhere it is
    an ordinary mount.
    """
    share = _WSL_SHARE.match(path)
    if share:
        return "/" + share[2].replace("\\", "/").strip("/")
    bare = path[4:] if path.startswith("\\\\?\\") else path
    if _WINDOWS.match(bare) or bare.startswith("\\\\"):
        return re.sub(r"/+", "/", bare.replace("\\", "/")).rstrip("/").casefold()
    drive = _WSL_DRIVE.match(path)
    if drive and map_wsl_drives:
        return f"{drive[1]}:{path[6:].rstrip('/')}".casefold()
    return path.rstrip("/") or "/"


def path_name(path: str) -> str:
    """The last part of a path of any system, spelled as given."""
    parts = [p for p in re.split(r"[\\/]+", path) if p]
    return parts[-1] if parts else "root"
