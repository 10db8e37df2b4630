"""Anthropic's Messages: `system` beside `messages`, blocks of content, a stream of named events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from catmem.domain.message import ToolCall
from catmem.proxy import splice
from catmem.proxy.wires.port import Answer, Asked, Spoken, counts, dicts, object_of, text_of, texts_of

_COUNTED = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
_USAGE = {name: name for name in _COUNTED}


def read(body: Mapping[str, Any]) -> Asked:
    return Asked(
        spoken=tuple(spoken for message in dicts(body.get("messages")) for spoken in _spoken(message)),
        system=texts_of(body.get("system")),
        tools=bool(body.get("tools")),
        structured="format" in object_of(body.get("output_config")) or "output_format" in body,
        session=_session(object_of(body.get("metadata")).get("user_id")),
    )


def insert(text: str, brief: str) -> str:
    """The request with the brief as the last element of `system`. Raises ValueError for what is no request."""
    block = splice.written({"type": "text", "text": brief})
    system = splice.members(text).get("system")
    if system is None:
        return splice.member(text, "system", f"[{block}]")
    if isinstance(system.value, str):
        said = text[system.start : system.end]
        return splice.instead(
            text, system, f'[{{"type":"text","text":{said}}},{block}]' if system.value else f"[{block}]"
        )
    if system.value is None:
        return splice.instead(text, system, f"[{block}]")
    blocks = splice.items(text, system.start)
    return splice.after(text, blocks[-1].end, block) if blocks else splice.first(text, system, block)


def _spoken(message: Mapping[str, Any]) -> Iterator[Spoken]:
    content = message.get("content")
    role = message.get("role")
    if role == "assistant":
        uses = [block for block in dicts(content) if block.get("type") == "tool_use"]
        yield Spoken("assistant", texts_of(content), tuple(_call(block) for block in uses))
    elif role == "user":
        for block in dicts(content):
            if block.get("type") == "tool_result":
                yield Spoken("tool", texts_of(block.get("content")), call_id=text_of(block.get("tool_use_id")))
        texts = texts_of(content)
        if texts:
            yield Spoken("user", texts)


def _call(block: Mapping[str, Any]) -> ToolCall:
    arguments = json.dumps(block.get("input"), ensure_ascii=False)
    return ToolCall(text_of(block.get("id")), text_of(block.get("name")), arguments)


def _session(user: object) -> str:
    """Claude Code puts a JSON text there; from other programs it is the name of a user, and no session."""
    try:
        return text_of(object_of(json.loads(text_of(user) or "{}")).get("session_id"))
    except ValueError:
        return ""


class Reply:
    """Blocks come in pieces by index; `message_stop` is the end."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._texts: dict[int, str] = {}
        self._tools: dict[int, dict[str, str]] = {}

    def event(self, data: Mapping[str, Any]) -> None:
        kind = data.get("type")
        index = data.get("index")
        number = index if isinstance(index, int) else 0
        if kind == "content_block_start":
            self._begin(number, object_of(data.get("content_block")))
        elif kind == "content_block_delta":
            delta = object_of(data.get("delta"))
            if delta.get("type") == "text_delta":
                self._texts[number] = self._texts.get(number, "") + text_of(delta.get("text"))
            elif delta.get("type") == "input_json_delta" and number in self._tools:
                self._tools[number]["arguments"] += text_of(delta.get("partial_json"))
        elif kind == "message_start":
            message = object_of(data.get("message"))
            self.answer.id = text_of(message.get("id"))
            self.answer.usage.update(counts(message.get("usage"), _USAGE))
        elif kind == "message_delta":
            self.answer.usage.update(counts(data.get("usage"), _USAGE))
        elif kind == "message_stop":
            self._end()

    def whole(self, data: Mapping[str, Any]) -> None:
        if data.get("type") != "message":
            return
        self.answer.id = text_of(data.get("id"))
        self.answer.usage.update(counts(data.get("usage"), _USAGE))
        content = data.get("content")
        self.answer.text = "\n".join(text for text in texts_of(content) if text.strip())
        self.answer.calls = [_call(block) for block in dicts(content) if block.get("type") == "tool_use"]
        self.answer.complete = True

    def _begin(self, number: int, block: Mapping[str, Any]) -> None:
        if block.get("type") == "text":
            self._texts[number] = text_of(block.get("text"))
        elif block.get("type") == "tool_use":
            given = block.get("input")
            self._tools[number] = {
                "id": text_of(block.get("id")),
                "name": text_of(block.get("name")),
                # Usually empty here, and sent in pieces.
                "arguments": json.dumps(given, ensure_ascii=False) if given else "",
            }

    def _end(self) -> None:
        texts = [self._texts[number] for number in sorted(self._texts)]
        self.answer.text = "\n".join(text for text in texts if text.strip())
        tools = [self._tools[number] for number in sorted(self._tools)]
        self.answer.calls = [ToolCall(tool["id"], tool["name"], tool["arguments"] or "{}") for tool in tools]
        self.answer.complete = True
