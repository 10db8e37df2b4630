"""What no record passes without: private parts and our own briefs are taken out, secrets redacted (hot path)."""

from __future__ import annotations

from catmem.sessions.records import dump, read_json
from catmem.text.encoding import clean
from catmem.text.private import OUR_TAG, PRIVATE_TAG, strip_injected, strip_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from catmem.sessions.records import Record

    Redact = Callable[[str, str], str]

# What a tool printed may hold keys, but its sentences are not the user's.
_SOURCES = {"user": "said", "assistant": "said", "tool": "tool", "system": "tool"}


def admitted(record: Mapping[str, Any], redact: Redact) -> Record:
    """A record (records.py) as it may be stored. `redact(text, source)`: see text/secrets; `source` is said or tool."""
    if "mark" in record:
        return _admitted_mark(record, redact)
    passed = dict(record)
    role = record["role"]
    content = strip_private(clean(record["content"]))
    if role != "tool":
        # A tool's output that shows such a block is a file about us: it stays word for word.
        content = strip_injected(content)
    passed["content"] = redact(content, _SOURCES[role])
    if record.get("toolCalls"):
        passed["toolCalls"] = [_admitted_call(call, redact) for call in record["toolCalls"]]
    return passed


def admitted_title(title: str, redact: Redact) -> str:
    """A title as it may be stored: on one line, without what no message may have."""
    return " ".join(redact(strip_injected(strip_private(clean(title))), "said").split())


def _admitted_mark(mark: Mapping[str, Any], redact: Redact) -> Record:
    passed = dict(mark)
    if mark["mark"] == "title" and isinstance(mark.get("value"), str):
        passed["value"] = admitted_title(mark["value"], redact)
    if mark["mark"] == "listing" and isinstance(mark.get("header"), dict):
        header = dict(mark["header"])
        for name in ("title", "preview"):
            if isinstance(header.get(name), str):
                header[name] = admitted_title(header[name], redact)
        passed["header"] = header
    return passed


def _admitted_call(call: Mapping[str, Any], redact: Redact) -> Record:
    arguments = str(call.get("arguments", ""))
    folded = arguments.lower()
    if PRIVATE_TAG in folded or OUR_TAG in folded:
        arguments = _without_private(arguments)
    return {**call, "arguments": redact(clean(arguments), "tool")}


def _without_private(arguments: str) -> str:
    """Takes private parts out of each text inside the JSON, so that an unclosed one does not take the rest of it."""
    inside = read_json(arguments.encode("utf-8", "replace"))
    if inside is None:
        return strip_private(arguments)
    stripped = _stripped(inside)
    return arguments if stripped == inside else dump(stripped)


def _stripped(value: Any) -> Any:
    if isinstance(value, str):
        return strip_private(value)
    if isinstance(value, list):
        return [_stripped(item) for item in value]
    if isinstance(value, dict):
        return {name: _stripped(item) for name, item in value.items()}
    return value
