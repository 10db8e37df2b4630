"""Gemini's generateContent: `contents` of parts, `systemInstruction` beside them, calls that are known by their names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from catmem.domain.message import ToolCall
from catmem.proxy import splice
from catmem.proxy.wires.port import Answer, Asked, Spoken, counts, dicts, object_of, text_of

_USAGE = {
    "promptTokenCount": "input_tokens",
    "candidatesTokenCount": "output_tokens",
    "cachedContentTokenCount": "cache_read_input_tokens",
}
_SYSTEM = ("systemInstruction", "system_instruction")
_CACHED = ("cachedContent", "cached_content")
_SCHEMAS = ("responseJsonSchema", "responseSchema", "response_json_schema", "response_schema")


def read(body: Mapping[str, Any]) -> Asked:
    config = object_of(body.get("generationConfig") or body.get("generation_config"))
    system = next((object_of(body[name]) for name in _SYSTEM if name in body), {})
    return Asked(
        spoken=tuple(spoken for content in dicts(body.get("contents")) for spoken in _spoken(content)),
        system=_texts(system),
        tools=bool(body.get("tools")),
        structured=any(name in config for name in _SCHEMAS),
    )


def insert(text: str, brief: str) -> str:
    """The request with the brief as the last part of the system's instruction. Raises ValueError where none can be."""
    parts = splice.members(text)
    if any(parts[name].value for name in _CACHED if name in parts):
        # The server refuses an instruction beside a cache that has one.
        raise ValueError("the instruction is in a cache")
    part = splice.written({"text": brief})
    system = next((parts[name] for name in _SYSTEM if name in parts), None)
    if system is None:
        return splice.member(text, _SYSTEM[0], f'{{"parts":[{part}]}}')
    inner = splice.members(text, system.start).get("parts")
    if inner is None:
        raise ValueError("an instruction of an unknown form")
    if isinstance(inner.value, dict):
        return splice.instead(text, inner, f"[{text[inner.start : inner.end]},{part}]")
    spans = splice.items(text, inner.start)
    return splice.after(text, spans[-1].end, part) if spans else splice.first(text, inner, part)


def _texts(content: Mapping[str, Any]) -> tuple[str, ...]:
    parts = content.get("parts")
    listed = [parts] if isinstance(parts, dict) else dicts(parts)
    return tuple(text_of(part.get("text")) for part in listed if "text" in part and not part.get("thought"))


def _spoken(content: Mapping[str, Any]) -> Iterator[Spoken]:
    texts, parts = _texts(content), dicts(content.get("parts"))
    if content.get("role", "user") == "model":
        yield Spoken("assistant", texts, _calls(parts))
        return
    for part in parts:
        given = object_of(part.get("functionResponse"))
        if given:
            result = object_of(given.get("response"))
            said = text_of(result.get("output")) or json.dumps(result, ensure_ascii=False)
            yield Spoken("tool", (said,), call_id=text_of(given.get("name")))
    if texts:
        yield Spoken("user", texts)


def _calls(parts: list[dict[str, Any]]) -> tuple[ToolCall, ...]:
    """Their ids are of no use: mostly there are none, and programs make up some that the next request has otherwise."""
    called = [object_of(part["functionCall"]) for part in parts if "functionCall" in part]
    names = [text_of(call.get("name")) for call in called]
    given = [json.dumps(call.get("args") or {}, ensure_ascii=False) for call in called]
    return tuple(ToolCall(name, name, arguments) for name, arguments in zip(names, given, strict=True))


class Reply:
    """Every event is a candidate's next parts; the reason why it finished is the end."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._parts: list[dict[str, Any]] = []

    def event(self, data: Mapping[str, Any]) -> None:
        self.answer.id = text_of(data.get("responseId")) or self.answer.id
        self.answer.usage.update(counts(data.get("usageMetadata"), _USAGE))
        for candidate in dicts(data.get("candidates")):
            if candidate.get("index", 0) != 0:
                continue
            self._parts += dicts(object_of(candidate.get("content")).get("parts"))
            if candidate.get("finishReason"):
                self.answer.text = "".join(_texts({"parts": self._parts}))
                self.answer.calls = list(_calls(self._parts))
                self.answer.complete = True

    def whole(self, data: Mapping[str, Any]) -> None:
        self.event(data)
