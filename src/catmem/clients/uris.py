"""Folders as editors write them: URIs, percent-coded, perhaps of another machine."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

_DRIVE = re.compile(r"/[A-Za-z]:(?:/|\Z)")


def folder_of(uri: str) -> str:
    """`file:///home/kim/my%20tea` -> `/home/kim/my tea`; a path stays one; "" for what names no folder."""
    if "://" not in uri:
        return uri
    try:
        parts = urlsplit(uri)
    except ValueError:
        return ""
    if parts.scheme not in ("file", "vscode-remote"):
        return ""
    path = unquote(parts.path)
    if _DRIVE.match(path):
        return path[1:]
    if parts.scheme == "file" and parts.netloc:
        return f"//{unquote(parts.netloc)}{path}"  # a share
    return path
