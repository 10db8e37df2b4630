"""What the fake upstream must know of each API: what a request asks, and the least valid answer to it."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from typing import Any, Protocol

Body = dict[str, Any]
Event = tuple[str, Any]

# Texts that an assistant puts into a user message itself, beside what the person typed, whole or as a part of a text.
_NOT_TYPED = ("<system-reminder>", "<environment_context>", "# AGENTS.md instructions", "<catmem-memory")
_ADDED = re.compile(r"<(session_context|hook_context)>.*?</\1>", re.DOTALL)


class Dialect(Protocol):
    """One API."""

    def is_turn(self, path: str, body: Body, headers: dict[str, str]) -> bool:
        """Whether a request asks for the answer to a turn, and is no probe, token count or title."""

    def said(self, body: Body) -> list[Any]:
        """The contents of the user's messages, in the order of the talk."""

    def told(self, body: Body) -> Any:
        """All that the model reads."""

    def answer(self, body: Body, text: str) -> Body:
        """The whole answer."""

    def stream(self, answer: Body) -> Iterator[Event]:
        """The same as events: name ("" where they have none) and data."""


class Messages:
    """Anthropic's /v1/messages."""

    def is_turn(self, path: str, body: Body, headers: dict[str, str]) -> bool:
        return path.endswith("/v1/messages") and bool(body.get("tools"))

    def said(self, body: Body) -> list[Any]:
        return [message["content"] for message in body.get("messages", []) if message.get("role") == "user"]

    def told(self, body: Body) -> Any:
        return [body.get("system", []), body.get("messages", [])]

    def answer(self, body: Body, text: str) -> Body:
        return {
            "id": _id("msg", text),
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "fake"),
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }

    def stream(self, answer: Body) -> Iterator[Event]:
        events: list[Body] = [
            {"type": "message_start", "message": {**answer, "content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        ]
        for piece in _pieces(answer["content"][0]["text"]):
            delta = {"type": "text_delta", "text": piece}
            events.append({"type": "content_block_delta", "index": 0, "delta": delta})
        stop = {"stop_reason": "end_turn", "stop_sequence": None}
        events += [
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
        yield from ((event["type"], event) for event in events)


class Responses:
    """OpenAI's /v1/responses."""

    tokens = 10
    """How long it says that a request was."""

    def is_turn(self, path: str, body: Body, headers: dict[str, str]) -> bool:
        about = json.loads(headers.get("x-codex-turn-metadata", "{}"))
        return path.endswith("/responses") and about.get("request_kind", "turn") == "turn"

    def said(self, body: Body) -> list[Any]:
        return [item.get("content") for item in body.get("input", []) if item.get("role") == "user"]

    def told(self, body: Body) -> Any:
        return [body.get("instructions", ""), body.get("input", [])]

    def answer(self, body: Body, text: str) -> Body:
        part = {"type": "output_text", "text": text, "annotations": []}
        item = {
            "id": _id("msg", text),
            "type": "message",
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        usage = {
            "input_tokens": self.tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self.tokens + 5,
        }
        about = {"id": _id("resp", text), "object": "response", "status": "completed", "model": body.get("model")}
        return {**about, "output": [item], "usage": usage}

    def stream(self, answer: Body) -> Iterator[Event]:
        item = answer["output"][0]
        begun = {**item, "status": "in_progress", "content": []}
        place = {"item_id": item["id"], "output_index": 0, "content_index": 0}
        events: list[Body] = [
            {"type": "response.created", "response": {**answer, "status": "in_progress", "output": []}},
            {"type": "response.output_item.added", "output_index": 0, "item": begun},
        ]
        for piece in _pieces(item["content"][0]["text"]):
            events.append({"type": "response.output_text.delta", **place, "delta": piece})
        events += [
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": answer},
        ]
        yield from ((event["type"], event) for event in events)


class ChatCompletions:
    """OpenAI's /v1/chat/completions."""

    def is_turn(self, path: str, body: Body, headers: dict[str, str]) -> bool:
        return path.endswith("/chat/completions") and bool(body.get("tools"))

    def said(self, body: Body) -> list[Any]:
        return [message.get("content") for message in body.get("messages", []) if message.get("role") == "user"]

    def told(self, body: Body) -> Any:
        return body.get("messages", [])

    def answer(self, body: Body, text: str) -> Body:
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        about = {"id": _id("chatcmpl", text), "object": "chat.completion", "created": 0, "model": body.get("model")}
        return {**about, "choices": [choice], "usage": usage}

    def stream(self, answer: Body) -> Iterator[Event]:
        about = {**answer, "object": "chat.completion.chunk", "usage": None}
        for piece in _pieces(answer["choices"][0]["message"]["content"]):
            delta = {"role": "assistant", "content": piece}
            yield "", {**about, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield "", {**about, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": answer["usage"]}
        yield "", "[DONE]"


class Gemini:
    """Google's generateContent and streamGenerateContent."""

    def is_turn(self, path: str, body: Body, headers: dict[str, str]) -> bool:
        return path.endswith(":streamGenerateContent")

    def said(self, body: Body) -> list[Any]:
        return [content.get("parts") for content in body.get("contents", []) if content.get("role") == "user"]

    def told(self, body: Body) -> Any:
        return [body.get("systemInstruction", {}), body.get("contents", [])]

    def answer(self, body: Body, text: str) -> Body:
        content = {"role": "model", "parts": [{"text": text}]}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
        return {"candidates": [{"index": 0, "content": content, "finishReason": "STOP"}], "usageMetadata": usage}

    def stream(self, answer: Body) -> Iterator[Event]:
        candidate = answer["candidates"][0]
        *first, last = _pieces(candidate["content"]["parts"][0]["text"])
        for piece in first:
            yield "", {"candidates": [{"index": 0, "content": {"role": "model", "parts": [{"text": piece}]}}]}
        content = {"role": "model", "parts": [{"text": last}]}
        yield "", {**answer, "candidates": [{**candidate, "content": content}]}


_BY_END: tuple[tuple[str, Dialect], ...] = (
    ("/v1/messages", Messages()),
    ("/responses", Responses()),
    ("/chat/completions", ChatCompletions()),
    (":generateContent", Gemini()),
    (":streamGenerateContent", Gemini()),
)


def dialect_of(path: str) -> Dialect | None:
    """The API of a path, None for a path of no model."""
    return next((dialect for end, dialect in _BY_END if path.endswith(end)), None)


def last_typed(contents: list[Any]) -> str:
    """The last text in some contents that the person typed; "" if there is none."""
    for content in reversed(contents):
        texts = [_ADDED.sub("", text).strip() for text in texts_of(content)]
        typed = [text for text in texts if text and not text.startswith(_NOT_TYPED)]
        if typed:
            return typed[-1]
    return ""


def texts_of(content: Any) -> Iterator[str]:
    """Every text in a content, in its order."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for part in content:
            yield from texts_of(part)
    elif isinstance(content, dict):
        yield from texts_of(content.get("text") or content.get("content") or content.get("parts"))


def _pieces(text: str) -> list[str]:
    return [text[start : start + 20] for start in range(0, len(text), 20)]


def _id(kind: str, text: str) -> str:
    return f"{kind}_{zlib.crc32(text.encode()):08x}"
