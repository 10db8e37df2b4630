"""The folder in which a Gemini CLI chat was held: no chat names it, but what lies beside it does."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from catmem.clients.draft import record_of, text_of

# chats/<session>.jsonl, or chats/<session>/<subagent>.jsonl, below the project's folder.
_FOLDERS_UP = 3
# The list of all projects stands beside `tmp`, above the projects' folders.
_LIST_UP = 5
_MOST_BYTES = 4 << 20
_FIRST_FOLDER = re.compile(r"\*\*Workspace Directories:\*\*\s*\n\s*- ([^\n]+)")


def workspace_of(path: Path, project_hash: str, context: str) -> str:
    """The folder, "" if nothing tells.

    A project's folder names it; the list of projects does, by the folder's name or by the hash of the path; at last
    the context that the program told the model.
    """
    parents = list(path.absolute().parents)
    for folder in parents[:_FOLDERS_UP]:
        named = _text(folder / ".project_root").strip()
        if named:
            return named
    names = {project_hash, *(folder.name for folder in parents[:_FOLDERS_UP])} - {""}
    for folder in parents[:_LIST_UP]:
        for root, name in _projects(folder / "projects.json").items():
            if name in names or hashlib.sha256(root.encode("utf-8", "replace")).hexdigest() in names:
                return root
    told = _FIRST_FOLDER.search(context)
    return told[1].strip() if told else ""


def _projects(path: Path) -> dict[str, str]:
    try:
        found = record_of(json.loads(_text(path) or "{}"))
    except ValueError:
        return {}
    listed = found.get("projects", found)
    return {root: text_of(name) for root, name in record_of(listed).items()}


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_BYTES).decode("utf-8", "replace")
    except OSError:  # not there, or not ours to read: then it tells nothing
        return ""
