"""An export of our own, taken in: its sessions word for word, its memories as they stood."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from catmem.capture.formats import EXPORT_FORMAT
from catmem.domain.change import Change
from catmem.domain.change_record import change_from_record, change_to_record
from catmem.domain.errors import BadInput, DataDamaged, StorageFailed
from catmem.domain.session import SessionRef
from catmem.sessions.adoption import adopt
from catmem.sessions.history import History
from catmem.store.memories import MemoryStore
from catmem.store.projects import Projects
from catmem.store.records import export_entries
from catmem.text.faults import json_fault_zh


def take_export(
    path: Path, history: History, store: MemoryStore, projects: Projects
) -> tuple[Sequence[SessionRef], int, int]:
    """Takes an export whole. Returns its sessions, and how many messages were new and known.

    Everything is checked before anything is written. Raises BadInput for a file that is no export.
    """
    export = _read(path)
    entries, of_projects = _entries(path, export), _of_projects(path, export)
    refs, new, known = [], 0, 0
    for record in export.get("sessions", []):
        taken = adopt(history, record, record.get("messages"))
        refs.append(SessionRef(str(record["metadata"].get("project", "")), record["key"]))
        new, known = new + len(taken.new), known + taken.known
    _remember_entries(store, entries)
    projects.adopt(of_projects)
    return refs, new, known


def _remember_entries(store: MemoryStore, entries: list[dict[str, Any]]) -> None:
    """One line for what is not known here in just this state already: importing twice changes nothing."""
    store.catch_up()
    present = {entry["id"]: export_entries(memory) for memory in store.all() for entry in export_entries(memory)}
    theirs: dict[str, list[dict[str, Any]]] = {}
    for entry in entries:
        theirs.setdefault(entry["id"], []).append(entry)
    news = [entry for id, group in theirs.items() if present.get(id) != group for entry in group]
    if news:
        store.commit([Change(0, "", "", "import", "import", why="imported", records=tuple(news))])


def _read(path: Path) -> dict[str, Any]:
    try:
        export = json.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise StorageFailed(f"cannot read {path}: {error.strerror}", f"无法读取 {path}：{error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"{path} is not a whole JSON file: {error}", f"{path} 不是完整的 JSON 文件：{json_fault_zh(str(error))}"
        ) from error
    if not isinstance(export, dict) or export.get("format") != EXPORT_FORMAT:
        raise BadInput(f"{path} is not a {EXPORT_FORMAT} file", f"{path} 不是 {EXPORT_FORMAT} 文件")
    if not isinstance(export.get("sessions", []), list) or not isinstance(export.get("memories", []), list):
        raise BadInput(f"{path} has no list of memories or sessions", f"{path} 缺少记忆或会话列表")
    return export


def _entries(path: Path, export: dict[str, Any]) -> list[dict[str, Any]]:
    """The memories of an export, checked as a ledger line would be."""
    entries = list(export.get("memories", []))
    probe = Change(1, "", "", "import", "import")
    try:
        change_from_record({**change_to_record(probe), "records": entries})
    except DataDamaged as error:
        raise BadInput(
            f"a memory of {path} is not whole: {error.en}", f"{path} 中有不完整的记忆：{error.zh}"
        ) from error
    return entries


def _of_projects(path: Path, export: dict[str, Any]) -> list[dict[str, Any]]:
    """What an export tells of projects; an older one tells nothing."""
    entries = export.get("projects", [])
    for entry in entries if isinstance(entries, list) else [None]:
        texts = [entry.get(name) for name in ("key", "into", "name")] if isinstance(entry, dict) else []
        if not texts or not texts[0] or not all(isinstance(text, str) for text in texts):
            raise BadInput(f"a project of {path} is not whole", f"{path} 中有不完整的项目")
    return [{**entry, "decided": entry.get("decided") is True} for entry in entries]
