"""OpenAI's Responses: a row of items as input and as output; a server may keep what went before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from catmem.domain.message import ToolCall
from catmem.proxy import splice
from catmem.proxy.wires.port import Answer, Asked, Spoken, counts, dicts, object_of, text_of, texts_of

_USAGE = {"input_tokens": "input_tokens", "output_tokens": "output_tokens"}
_SYSTEM = ("system", "developer")
_TEXTS = ("input_text", "output_text", "text")
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")


def read(body: Mapping[str, Any]) -> Asked:
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else dicts(given)
    said = [text for item in items if item.get("role") in _SYSTEM for text in texts_of(item.get("content"), _TEXTS)]
    kept = body.get("conversation")
    return Asked(
        spoken=tuple(spoken for item in items for spoken in _spoken(item)),
        system=(*texts_of(body.get("instructions") or []), *said),
        tools=bool(body.get("tools")),
        structured=object_of(object_of(body.get("text")).get("format")).get("type") == "json_schema",
        previous=text_of(body.get("previous_response_id")) or text_of(kept) or text_of(object_of(kept).get("id")),
    )


def insert(text: str, brief: str) -> str:
    """The request with the brief at the end of its instructions, or as the last of the developer's first items."""
    parts = splice.members(text)
    instructions, given = parts.get("instructions"), parts.get("input")
    if instructions is not None and isinstance(instructions.value, str) and instructions.value:
        place = instructions.end - 1
        return text[:place] + splice.quoted("\n\n" + brief)[1:-1] + text[place:]
    kept = any(parts[name].value for name in ("previous_response_id", "conversation") if name in parts)
    if kept or given is None or not isinstance(given.value, list):
        # An item would be kept by the server, and stand there again with every turn; instructions are not kept.
        if instructions is not None:
            return splice.instead(text, instructions, splice.quoted(brief))
        return splice.member(text, "instructions", splice.quoted(brief))
    leading = []
    for span in splice.items(text, given.start):
        if object_of(span.value).get("role") not in _SYSTEM:
            break
        leading.append(span)
    content = [{"type": "input_text", "text": brief}]
    item = splice.written({"type": "message", "role": "developer", "content": content})
    return splice.after(text, leading[-1].end, item) if leading else splice.first(text, given, item)


def _spoken(item: Mapping[str, Any]) -> Iterator[Spoken]:
    role, kind = item.get("role"), item.get("type", "message")
    if kind == "message" and role == "user":
        yield Spoken("user", texts_of(item.get("content"), _TEXTS))
    elif kind == "message" and role == "assistant":
        yield Spoken("assistant", texts_of(item.get("content"), _TEXTS))
    elif kind in _CALLS:
        yield Spoken("assistant", (), (_call(item),))
    elif kind in _OUTPUTS:
        yield Spoken("tool", texts_of(item.get("output"), _TEXTS), call_id=text_of(item.get("call_id")))


def _call(item: Mapping[str, Any]) -> ToolCall:
    arguments = item.get(_CALLS[item["type"]])
    return ToolCall(text_of(item.get("call_id")), text_of(item.get("name")), text_of(arguments))


class Reply:
    """Whole items come one by one; the last event has all of them again, or, from some servers, none."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._items: list[dict[str, Any]] = []

    def event(self, data: Mapping[str, Any]) -> None:
        kind = data.get("type")
        if kind == "response.output_item.done":
            self._items.append(object_of(data.get("item")))
        elif kind in ("response.completed", "response.incomplete"):
            response = object_of(data.get("response"))
            self._end(response, dicts(response.get("output")) or self._items)

    def whole(self, data: Mapping[str, Any]) -> None:
        if data.get("status", "completed") in ("completed", "incomplete") and isinstance(data.get("output"), list):
            self._end(data, dicts(data["output"]))

    def _end(self, response: Mapping[str, Any], items: list[dict[str, Any]]) -> None:
        said = [
            text for item in items if item.get("type") == "message" for text in texts_of(item.get("content"), _TEXTS)
        ]
        self.answer.id = text_of(response.get("id"))
        self.answer.text = "\n".join(text for text in said if text.strip())
        self.answer.calls = [_call(item) for item in items if item.get("type") in _CALLS]
        self.answer.usage.update(counts(response.get("usage"), _USAGE))
        self.answer.complete = True
