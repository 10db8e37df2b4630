"""As much of JSON Schema as a host's reply needs: types, constants, required fields, and no field beside those named."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES: dict[str, type] = {"object": dict, "string": str, "boolean": bool}


def faults(value: Any, schema: Mapping[str, Any], where: str = "reply") -> list[str]:
    """What a value has against a schema; [] if nothing."""
    if not isinstance(value, _TYPES[schema["type"]]):
        return [f"{where} is no {schema['type']}"]
    if "const" in schema and value != schema["const"]:
        return [f"{where} is not {schema['const']!r}"]
    if len(value) > schema.get("maxLength", len(value)) if isinstance(value, str) else False:
        return [f"{where} is longer than {schema['maxLength']} characters"]
    if not isinstance(value, dict):
        return []
    known = schema["properties"]
    found = [f"{where}.{name} is unknown to the host" for name in value if name not in known]
    found += [f"{where}.{name} is missing" for name in schema.get("required", ()) if name not in value]
    return found + [f for name in value if name in known for f in faults(value[name], known[name], f"{where}.{name}")]
