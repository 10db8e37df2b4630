"""`mem stats`"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from catmem.cli.output import Session, counted, mem_command
from catmem.cli.spend import print_spend, spend_of
from catmem.cli.words import word


@mem_command("stats", "Counts and sizes.", "数量与占用空间。")
def command(session: Session) -> None:
    catmem = session.catmem
    catmem.store.catch_up()
    counts = catmem.store.counts()
    headers = list(catmem.history.headers())
    paths = catmem.paths
    places = {"messages": paths.messages, "ledger": paths.ledger, "memories.db": paths.database, "search": paths.search}
    sizes = {name: size_of(place) for name, place in places.items()}
    value: dict[str, Any] = {
        "memories": {k: v for k, v in counts.items() if ":" not in k},
        "kinds": {k.partition(":")[2]: v for k, v in counts.items() if ":" in k},
        "projects": len({header.ref.project for header in headers}),
        "sessions": len(headers),
        "messages": sum(header.count for header in headers),
        "bytes": sizes,
        "spend": spend_of(catmem),
    }
    session.result(value)
    if session.as_json:
        return
    live = counts.get("live", 0)
    session.say(
        f"{counted(live, 'memory', 'memories')} in force, {counts.get('superseded', 0)} superseded, {counts.get('forgotten', 0)} forgotten",
        f"有效记忆 {live} 条，已被取代 {counts.get('superseded', 0)} 条，已遗忘 {counts.get('forgotten', 0)} 条",
    )
    kinds = sorted(value["kinds"].items())
    if kinds:
        session.say(
            "  " + ", ".join(f"{kind} {count}" for kind, count in kinds),
            "  " + "，".join(f"{word(kind, 'zh')} {count}" for kind, count in kinds),
        )
    session.say(
        f"{counted(value['messages'], 'message')} in {counted(value['sessions'], 'session')}"
        f" of {counted(value['projects'], 'project')}",
        f"{value['projects']} 个项目、{value['sessions']} 个会话、{value['messages']} 条消息",
    )
    space = [f"{name} {readable_size(size)}" for name, size in sizes.items()]
    session.say(f"on disk: {', '.join(space)}", f"占用空间：{'，'.join(space)}")
    print_spend(session)


def size_of(place: Path) -> int:
    """Bytes of a file or of all files under a folder."""
    if place.is_file():
        return place.stat().st_size
    return sum(path.stat().st_size for path in place.rglob("*") if path.is_file())


def readable_size(size: int) -> str:
    number = float(size)
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"
