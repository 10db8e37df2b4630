"""Claude Code's settings.json as text: our hooks go in and out, every other byte of it stays where the user put it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from catmem.domain.errors import BadInput

Settings = dict[str, Any]

_OURS = re.compile(r"(?:^|\s)hook claude-code [A-Za-z]+\b")
_DECODER = json.JSONDecoder()
_BLANK = re.compile(r"[ \t\r\n]*")


class _Member(NamedTuple):
    """One member of the outermost object: where its name begins, its value begins, its value ends."""

    name: str
    start: int
    value: int
    end: int


def parse(data: bytes, path: object) -> tuple[str, Settings]:
    """The text, without a BOM, and what it says. Raises BadInput where it cannot be understood whole."""
    try:
        text = data.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_once) if text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise _refused(path, str(error)) from error
    if not isinstance(value, dict):
        raise _refused(path, "not a JSON object")
    hooks = value.get("hooks", {})
    if not isinstance(hooks, dict) or not all(isinstance(groups, list) for groups in hooks.values()):
        raise _refused(path, '"hooks" has an unexpected shape')
    return text, value


def has_exactly(settings: Settings, groups: Mapping[str, Settings]) -> bool:
    """True if these hooks of ours, and no other of ours, are in the settings."""
    found = {
        event: [g for g in event_groups if _is_ours(g)] for event, event_groups in settings.get("hooks", {}).items()
    }
    return {event: [group] for event, group in groups.items()} == {e: ours for e, ours in found.items() if ours}


def without_ours(settings: Settings) -> Settings:
    """The settings without our hooks, and without what is empty only because of that."""
    hooks = {}
    for event, groups in settings.get("hooks", {}).items():
        kept = [rest for rest in map(_without_ours, groups) if rest is not None]
        if kept or not groups:
            hooks[event] = kept
    rest = {name: value for name, value in settings.items() if name != "hooks"}
    return settings if hooks == settings.get("hooks") else ({**settings, "hooks": hooks} if hooks else rest)


def with_ours(settings: Settings, groups: Mapping[str, Settings]) -> Settings:
    """The settings with a group of ours for each event, after those of others."""
    hooks = dict(settings.get("hooks", {}))
    for event, group in groups.items():
        hooks[event] = [*hooks.get(event, []), group]
    return {**settings, "hooks": hooks}


def rendered(text: str, settings: Settings) -> bytes:
    """`text` with its hooks replaced by those of `settings`; all else of it is left byte for byte."""
    newline = "\r\n" if "\r\n" in text else "\n"
    indent = _indent(text)
    if not text.strip():
        return (_dumped({"hooks": settings["hooks"]}, indent) + "\n").encode() if "hooks" in settings else b""
    members = _members(text)
    ours = next((m for m in members if m.name == "hooks"), None)
    if "hooks" not in settings:
        new = _removed(text, members, ours) if ours else text
    else:
        value = _dumped(settings["hooks"], indent).replace("\n", "\n" + (indent or "")).replace("\n", newline)
        new = _replaced(text, ours, value) if ours else _added(text, members, value, indent, newline)
    return new.encode("utf-8", "surrogatepass")


def _is_ours(group: object) -> bool:
    hooks = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(hooks, list) and any(map(_is_our_hook, hooks))


def _is_our_hook(hook: object) -> bool:
    return isinstance(hook, dict) and isinstance(hook.get("command"), str) and bool(_OURS.search(hook["command"]))


def _without_ours(group: Any) -> Any:
    """A group without our hooks; None if nothing else was in it."""
    if not _is_ours(group):
        return group
    rest = [hook for hook in group["hooks"] if not _is_our_hook(hook)]
    return {**group, "hooks": rest} if rest else None


def _once(pairs: list[tuple[str, Any]]) -> Settings:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"has {next(name for name in names if names.count(name) > 1)!r} twice")
    return members


def _refused(path: object, why: str) -> BadInput:
    return BadInput(
        f"{path} cannot be read as JSON ({why}); it was left untouched. Correct it and run the command again.",
        f"{path} 不是可读的 JSON（{why}）；文件未作任何改动。请修正后重新运行。",
    )


def _dumped(value: object, indent: str | None) -> str:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return text if indent is not None else json.dumps(value, ensure_ascii=False)


def _indent(text: str) -> str | None:
    """The unit of indentation; None for a file on one line."""
    if not text.strip() or not text.strip().strip("{} \r\n\t"):
        return "  "
    match = re.search(r'\{[ \t]*\r?\n([ \t]+)"', text)
    return match[1] if match else None


def _members(text: str) -> list[_Member]:
    found: list[_Member] = []
    position = text.index("{") + 1
    while True:
        start = _skip(text, position)
        if text[start] == "}":
            return found
        if text[start] == ",":
            position = start + 1
            continue
        name, end = _DECODER.raw_decode(text, start)
        value = _skip(text, _skip(text, end) + 1)
        position = _DECODER.raw_decode(text, value)[1]
        found.append(_Member(name, start, value, position))


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _replaced(text: str, member: _Member, value: str) -> str:
    return text[: member.value] + value + text[member.end :]


def _removed(text: str, members: list[_Member], member: _Member) -> str:
    index = members.index(member)
    if index:
        return text[: members[index - 1].end] + text[member.end :]
    if len(members) > 1:
        return text[: member.start] + text[members[1].start :]
    return text[: text.index("{") + 1] + text[text.rindex("}") :]


def _added(text: str, members: list[_Member], value: str, indent: str | None, newline: str) -> str:
    start = newline + indent if indent else ""
    spelled = f'{start}"hooks": {value}'
    if members:
        end = members[-1].end
        return text[:end] + "," + ("" if indent else " ") + spelled + text[end:]
    opened = text.index("{") + 1
    return text[:opened] + spelled + (newline if indent else "") + text[text.rindex("}") :]
