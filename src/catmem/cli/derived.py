"""What can be wrong with what is derived: the database, vectors, lists, the index, pages. Each is made anew from its source."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from catmem.cli.finding import Finding
from catmem.cli.meaning import trouble_of
from catmem.cli.output import counted
from catmem.domain.errors import CatmemError, DataDamaged
from catmem.domain.session import SessionHeader
from catmem.index.coverage import coverage
from catmem.sessions.interruption import TURN_HOURS, idle_minutes
from catmem.store.database import quick_check
from catmem.wiring import Catmem


def database_findings(catmem: Catmem) -> Iterator[Finding]:
    reason = quick_check(catmem.paths.database)
    if reason:
        yield Finding(
            "database",
            f"memories.db is damaged ({reason}); it is rebuilt from the ledger by --repair",
            f"memories.db 已损坏（{reason}）；--repair 会由账本重建",
            catmem.store.rebuild,
        )


def meaning_findings(catmem: Catmem, deep: bool) -> Iterator[Finding]:
    trouble = trouble_of(catmem, ask=deep)
    if trouble:
        yield Finding(
            "meaning", f"{trouble[0]}; until then recall goes by words", f"{trouble[1]}；在此之前只凭关键词检索"
        )
    elif deep and catmem.embedder is not None and not catmem.vectors.is_sound(catmem.embedder):
        yield Finding(
            "vectors",
            "some vectors are damaged or missing; they are made anew from the search index",
            "部分向量已损坏或缺失；会由搜索索引重新生成",
            _rebuild_vectors(catmem),
        )


def _rebuild_vectors(catmem: Catmem) -> Callable[[], None]:
    def rebuild() -> None:
        if catmem.embedder is not None:
            catmem.vectors.rebuild(catmem.embedder)

    return rebuild


def _projects(catmem: Catmem) -> Iterator[Finding]:
    """Hooks read the registry, and take a damaged one for an empty one; it is derived from the ledger."""
    if not catmem.projects.is_sound():
        yield Finding(
            "projects",
            f"{catmem.paths.registry} is damaged: merged projects are read apart until it is made again",
            f"{catmem.paths.registry} 已损坏：重新生成之前，已合并的项目会被分开读取",
            lambda: _refresh_projects(catmem),
        )


def _refresh_projects(catmem: Catmem) -> None:
    catmem.projects.refresh()


def _index(catmem: Catmem) -> Iterator[Finding]:
    def rebuild() -> None:
        catmem.index.rebuild(catmem.store, catmem.history)

    try:
        found = coverage(catmem.paths, catmem.store, catmem.history)
    except DataDamaged as error:
        yield Finding("search", error.en, error.zh, rebuild)
        return
    except CatmemError:
        # There is no index yet; the first search makes it.
        return
    if found:
        lacking = f"{counted(len(found.sessions), 'session')} and {counted(found.memories, 'memory', 'memories')}"
        yield Finding(
            "search",
            f"the search index lacks something of {lacking}, and has {counted(found.strangers, 'passage')} too many",
            f"搜索索引缺少 {len(found.sessions)} 个会话和 {found.memories} 条记忆的部分内容，另多出 {found.strangers} 段",
            rebuild,
        )


def _pages(catmem: Catmem) -> Iterator[Finding]:
    try:
        missing, unreadable = catmem.pages.missing(), catmem.pages.unreadable()
    except CatmemError:
        # A database that cannot be read is a finding of its own.
        return
    for path in missing:
        yield Finding("page", f"{path} is gone; it is written anew", f"{path} 不见了；将重新生成", _rewrite(catmem))
    for path in unreadable:
        yield Finding(
            "page",
            f"{path} is not UTF-8 text, so it is left alone; save it as UTF-8, or move it away",
            f"{path} 不是 UTF-8 文本，因此未作改动；请另存为 UTF-8 或移走",
        )


def _rewrite(catmem: Catmem) -> Callable[[], None]:
    def rewrite() -> None:
        catmem.pages.write()

    return rewrite


def _listing(catmem: Catmem) -> Iterator[Finding]:
    """index.json is for people and other tools: it names no session that is not there, and leaves out only those in use."""
    path = catmem.paths.index
    if not path.exists():
        return
    try:
        listed = json.loads(path.read_text("utf-8"))
        named = {(row["metadata"]["project"], row["key"]) for row in listed["sessions"]}
        headers = list(catmem.history.headers())
        resting = {_named(h) for h in headers if idle_minutes(h.updated_at, catmem.clock()) >= TURN_HOURS * 60}
        sound = resting <= named <= set(map(_named, headers))
    except (OSError, ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        yield Finding(
            "index.json",
            "index.json differs from the sessions on disk",
            "index.json 与磁盘上的会话不一致",
            catmem.history.write_index,
        )


def _named(header: SessionHeader) -> tuple[str, str]:
    return header.ref.project, header.key


COMPARED = (_projects, _index, _listing, _pages)
"""What is compared with its source, which takes the longer the more there is."""
