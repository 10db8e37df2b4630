"""The arguments of a call against the schema of its tool: models leave things out and send "5" for 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catmem.domain.errors import BadInput
from catmem.mcp.tools import Tool


def checked(tool: Tool, given: Mapping[str, Any]) -> dict[str, Any]:
    """Every argument of the tool: as given, else its default, else None. Raises BadInput."""
    for name in given:
        if name not in tool.arguments:
            known = ", ".join(tool.arguments)
            raise BadInput(
                f"{tool.name} takes no argument {name!r}; it takes {known}",
                f"{tool.name} 没有参数 {name!r}；可用的参数：{known}",
            )
    values = {}
    for place, (name, (schema, _, _)) in enumerate(tool.arguments.items()):
        value = given.get(name)
        if value is None or value == "":
            if place < tool.needs:
                raise BadInput(f"{tool.name} needs `{name}`", f"{tool.name} 需要参数 `{name}`")
            values[name] = schema.get("default")
        else:
            values[name] = _fitting(name, value, schema)
    return values


def _fitting(name: str, value: Any, schema: Mapping[str, Any]) -> Any:
    kind = schema["type"]
    if kind == "boolean":
        return _truth(name, value)
    if kind == "integer":
        return _count(name, value, schema)
    if kind == "array":
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            raise BadInput(f"`{name}` is a list of texts", f"`{name}` 必须是文本列表")
        return items
    if not isinstance(value, str):
        raise BadInput(f"`{name}` is a text", f"`{name}` 必须是文本")
    if value not in schema.get("enum", (value,)):
        choices = ", ".join(schema["enum"])
        raise BadInput(f"`{name}` is one of {choices}", f"`{name}` 只能是 {choices}")
    return value


def _truth(name: str, value: Any) -> bool:
    spelled = {"true": True, "false": False}.get(str(value).lower())
    if spelled is None:
        raise BadInput(f"`{name}` is true or false", f"`{name}` 只能是 true 或 false")
    return spelled


def _count(name: str, value: Any, schema: Mapping[str, Any]) -> int:
    """A number that is too large means "as many as there are"."""
    try:
        if isinstance(value, bool) or float(value) != int(value):
            raise ValueError(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise BadInput(f"`{name}` is a whole number", f"`{name}` 必须是整数") from error
    return max(int(schema["minimum"]), min(int(schema["maximum"]), int(value)))
