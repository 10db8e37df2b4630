"""`mem why [SESSION]`: what a session was told from memory, when, by which door and for what reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from catmem.brief.words import WORDS
from catmem.cli.output import Session, local_minute, mem_command, two
from catmem.cli.words import word
from catmem.domain.clock import local_day
from catmem.domain.errors import BadInput, NotFound
from catmem.domain.memory import Memory
from catmem.inject import told
from catmem.store.memories import MemoryStore

# What a record tells of, for a person; `told` has the names.
_EVENTS = {
    told.BRIEF: ("the brief of the session", "会话的简报"),
    told.AGAIN: ("the same brief again", "再次给出同一份简报"),
    told.PROMPT: ("beside a message", "随消息附上"),
    told.RECALL: ("asked for", "应要求检索"),
}
_DOORS = {
    "hook": ("hook", "钩子"),
    "proxy": ("proxy", "代理"),
    "mcp": ("MCP", "MCP"),
    "chat": ("chat", "对话"),
}


@mem_command("why", "What a session was told from memory, and why.", "某个会话从记忆中得知了什么，为什么。")
@click.argument("key", required=False, metavar=two("[SESSION]", "[会话]"))
def command(session: Session, key: str | None) -> None:
    keys = told.sessions_told(session.catmem.paths)
    chosen = keys[-1] if key is None and keys else _chosen(keys, key or "")
    records = told.records_of(session.catmem.paths, chosen)
    session.result({"session": chosen, "told": records})
    if not session.as_json:
        session.say(chosen, chosen)
        print_told(session, records)


def _chosen(keys: Sequence[str], wanted: str) -> str:
    """The session with this key, or whose key ends so after the client's name."""
    if wanted in keys:
        return wanted
    fitting = [key for key in keys if wanted and key.partition(":")[2].startswith(wanted)]
    if len(fitting) > 1:
        raise BadInput(
            f"{wanted!r} begins several sessions: {', '.join(fitting)}",
            f"有多个会话以 {wanted!r} 开头：{'、'.join(fitting)}",
        )
    if not fitting:
        raise NotFound(
            f"no session {wanted} was told anything" if wanted else "no session was told anything yet",
            f"会话 {wanted} 没有得到任何记忆" if wanted else "还没有会话得到过记忆",
        )
    return fitting[0]


def print_told(session: Session, records: Sequence[Mapping[str, Any]]) -> None:
    """What a session was told, for a person; shared with `/why` in a chat."""
    session.catmem.store.catch_up()
    for record in records:
        en, zh = _EVENTS.get(record["event"], (record["event"], record["event"]))
        door_en, door_zh = _DOORS.get(record["door"], (record["door"], record["door"]))
        when = local_minute(record["at"])
        asked = f": {record['query']}" if record.get("query") else ""
        session.say(f"{when}  {door_en}: {en}{asked}", f"{when}  {door_zh}：{zh}{asked}")
        if record["event"] != told.AGAIN and not record["items"]:
            session.say("  nothing", "  无")
        lines = [line[2:] for line in record["text"].splitlines() if line.startswith("- ")]
        for item, line in zip(record["items"], lines, strict=False):
            _print_item(session, item, line, session.catmem.store)


def _print_item(session: Session, item: Mapping[str, Any], line: str, store: MemoryStore) -> None:
    memory = store.get(item["id"])
    session.say(f"  {line}", f"  {line}")
    en, zh = [_section(item, "en")], [_section(item, "zh")]
    if memory is not None:
        en = [f"{memory.id} [{memory.now.kind}]", *en]
        zh = [f"{memory.id} [{word(memory.now.kind, 'zh')}]", *zh]
        en, zh = en + _evidence(memory, "en"), zh + _evidence(memory, "zh")
    session.say("      " + "; ".join(part for part in en if part), "      " + "；".join(part for part in zh if part))


def _section(item: Mapping[str, Any], language: str) -> str:
    """Why it was chosen: the section of the brief that it is for, or the words that it shares with the message."""
    matched = item.get("matched")
    if matched:
        comma = "、" if language == "zh" else ", "
        return ("匹配：" if language == "zh" else "matches ") + comma.join(map(str, matched))
    return WORDS[language].get(item.get("section", ""), "").rstrip(":：")


def _evidence(memory: Memory, language: str) -> list[str]:
    """Where it was said last, and in how many sessions."""
    evidence = memory.now.evidence
    if not evidence:
        return []
    last = max(evidence, key=lambda e: e.at)
    sessions = len({e.session for e in evidence})
    place, day = f"{last.session} #{last.message_id}", local_day(last.at)
    if language == "zh":
        return [f"出自 {place}（{day}）"] + ([f"共 {sessions} 个会话"] if sessions > 1 else [])
    return [f"said in {place}, {day}"] + ([f"{sessions} sessions in all"] if sessions > 1 else [])
