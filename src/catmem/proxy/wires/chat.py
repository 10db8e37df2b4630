"""OpenAI's Chat Completions, and all who speak it: the system's words are messages at the beginning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from catmem.domain.message import ToolCall
from catmem.proxy import splice
from catmem.proxy.wires.port import Answer, Asked, Spoken, counts, dicts, object_of, text_of, texts_of

_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
_SYSTEM = ("system", "developer")


def read(body: Mapping[str, Any]) -> Asked:
    messages = dicts(body.get("messages"))
    system = tuple(text for m in messages if m.get("role") in _SYSTEM for text in texts_of(m.get("content")))
    return Asked(
        spoken=tuple(spoken for message in messages for spoken in _spoken(message)),
        system=system,
        tools=bool(body.get("tools") or body.get("functions")),
        structured=object_of(body.get("response_format")).get("type") == "json_schema",
    )


def insert(text: str, brief: str) -> str:
    """The request with the brief as the last of the messages that it begins with the system's words."""
    messages = splice.members(text).get("messages")
    if messages is None or not isinstance(messages.value, list):
        raise ValueError("no messages")
    leading = []
    for span in splice.items(text, messages.start):
        if object_of(span.value).get("role") not in _SYSTEM:
            break
        leading.append(span)
    role = leading[-1].value["role"] if leading else "system"
    message = splice.written({"role": role, "content": brief})
    return splice.after(text, leading[-1].end, message) if leading else splice.first(text, messages, message)


def _spoken(message: Mapping[str, Any]) -> Iterator[Spoken]:
    role = message.get("role")
    texts = texts_of(message.get("content"))
    if role == "user":
        yield Spoken("user", texts)
    elif role == "assistant":
        yield Spoken("assistant", texts, tuple(_call(call) for call in dicts(message.get("tool_calls"))))
    elif role in ("tool", "function"):
        yield Spoken("tool", texts, call_id=text_of(message.get("tool_call_id")))


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = object_of(call.get("function"))
    return ToolCall(text_of(call.get("id")), text_of(function.get("name")), text_of(function.get("arguments")))


class Reply:
    """Pieces of the first choice; the reason why it finished is the end, `[DONE]` only says so again."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._tools: dict[int, dict[str, str]] = {}

    def event(self, data: Mapping[str, Any]) -> None:
        self.answer.id = self.answer.id or text_of(data.get("id"))
        self.answer.usage.update(counts(data.get("usage"), _USAGE))
        for choice in dicts(data.get("choices")):
            if choice.get("index", 0) == 0:
                self._piece(object_of(choice.get("delta")))
                if choice.get("finish_reason"):
                    self._end()

    def whole(self, data: Mapping[str, Any]) -> None:
        choice = next((c for c in dicts(data.get("choices")) if c.get("index", 0) == 0), {})
        message = object_of(choice.get("message"))
        if not message:
            return
        self.answer.id = text_of(data.get("id"))
        self.answer.usage.update(counts(data.get("usage"), _USAGE))
        self.answer.text = "\n".join(texts_of(message.get("content")))
        self.answer.calls = [_call(call) for call in dicts(message.get("tool_calls"))]
        self.answer.complete = True

    def _piece(self, delta: Mapping[str, Any]) -> None:
        self.answer.text += text_of(delta.get("content"))
        for position, call in enumerate(dicts(delta.get("tool_calls"))):
            index = call.get("index", position)
            tool = self._tools.setdefault(
                index if isinstance(index, int) else position, {"id": "", "name": "", "arguments": ""}
            )
            function = object_of(call.get("function"))
            tool["id"] = tool["id"] or text_of(call.get("id"))
            tool["name"] = tool["name"] or text_of(function.get("name"))
            tool["arguments"] += text_of(function.get("arguments"))

    def _end(self) -> None:
        tools = [self._tools[index] for index in sorted(self._tools)]
        self.answer.calls = [ToolCall(tool["id"], tool["name"], tool["arguments"]) for tool in tools]
        self.answer.complete = True
