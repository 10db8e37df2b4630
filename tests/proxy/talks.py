"""Made-up requests and answers of every API, spelled in the many ways in which JSON can be spelled."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

PATHS = {
    "anthropic": "/v1/messages",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/gemini-9:streamGenerateContent?alt=sse",
}
_WORDS = [
    "teapot",
    "kettle",
    "spout",
    "lid",
    "handle",
    "glaze",
    "saucer",
    "tray",
    "steam",
    "leaf",
    "brew",
    "pour",
    "warm",
    "the",
    "a",
    "is",
    "of",
    "why",
    "when",
    "how",
    "茶壶",
    "水壶",
    "壶嘴",
    "杯子",
    "茶叶",
    "沏茶",
    "温度",
    "为什么",
    "怎么",
    "🍵",
    "naïve",
    "“quoted”",
    "<b>",
    "&",
    "\\",
    "/",
    "\t",
    "\u2028",
    '"q"',
]


def words(dice: random.Random, most: int = 12) -> str:
    return " ".join(dice.choices(_WORDS, k=dice.randint(1, most)))


def spelled(value: Any, dice: random.Random) -> str:
    """JSON of a value with spaces, escapes and numbers as no serialiser would write them twice."""
    blank = lambda: dice.choice(("", "", "", " ", "\n", "\t ", "  "))  # noqa: E731
    if isinstance(value, dict):
        rows = [f"{blank()}{_string(k, dice)}{blank()}:{blank()}{spelled(v, dice)}{blank()}" for k, v in value.items()]
        return "{" + (",".join(rows) or blank()) + "}"
    if isinstance(value, list):
        return "[" + (",".join(f"{blank()}{spelled(item, dice)}{blank()}" for item in value) or blank()) + "]"
    if isinstance(value, str):
        return _string(value, dice)
    if isinstance(value, float):
        return dice.choice((repr(value), f"{value:.3e}", f"{value:.5f}", f"{value:.1E}"))
    return json.dumps(value)


def _string(text: str, dice: random.Random) -> str:
    style = dice.random()
    if style < 0.5:
        return json.dumps(text, ensure_ascii=False)
    if style < 0.8:
        return json.dumps(text)
    return '"' + "".join(_letter(letter, dice) for letter in text) + '"'


def _letter(letter: str, dice: random.Random) -> str:
    if letter == "/" and dice.random() < 0.5:
        return "\\/"
    if ord(letter) < 0x10000 and not 0xD800 <= ord(letter) < 0xE000 and dice.random() < 0.2:
        return f"\\u{ord(letter):04{dice.choice('xX')}}"
    return json.dumps(letter, ensure_ascii=False)[1:-1]


def _unknown(dice: random.Random) -> dict[str, Any]:
    """Fields that nobody knows yet."""
    values: list[Callable[[], Any]] = [
        lambda: dice.random() * 10 ** dice.randint(-9, 9),
        lambda: dice.randint(-(2**70), 2**70),
        lambda: words(dice),
        lambda: {"type": "ephemeral", words(dice, 1): [None, True, {}]},
        lambda: [],
        lambda: "\ud83c\udf75 \x00 \x1f".encode("utf-16", "surrogatepass").decode("utf-16"),
    ]
    return {f"x_{dice.randint(0, 99)}": dice.choice(values)() for _ in range(dice.randint(0, 3))}


@dataclass(frozen=True, slots=True)
class Talk:
    """A request as JSON, what was said newest in it, whether it asks for a stream, and what its first turns were."""

    body: dict[str, Any]
    said: str
    stream: bool


def talk(wire: str, dice: random.Random) -> Talk:
    turns = [(words(dice), words(dice)) for _ in range(dice.randint(0, 3))]
    said = words(dice, 30)
    stream = dice.random() < 0.7
    body = _BODIES[wire](dice, turns, said, stream)
    rows = [*body.items(), *_unknown(dice).items()]
    dice.shuffle(rows)
    return Talk(dict(rows), said, stream)


def _anthropic(dice: random.Random, turns: list[tuple[str, str]], said: str, stream: bool) -> dict[str, Any]:
    def block(text: str) -> dict[str, Any]:
        marked = {"cache_control": {"type": "ephemeral"}} if dice.random() < 0.3 else {}
        return {"type": "text", "text": text, **marked}

    def content(text: str) -> Any:
        return text if dice.random() < 0.5 else [block(text)]

    messages: list[dict[str, Any]] = []
    for asked, answered in turns:
        messages += [{"role": "user", "content": content(asked)}, {"role": "assistant", "content": content(answered)}]
    messages.append({"role": "user", "content": content(said)})
    if dice.random() < 0.3:
        call = {
            "type": "tool_use",
            "id": f"toolu_{dice.randint(0, 1 << 60)}",
            "name": "Read",
            "input": {"path": words(dice)},
        }
        thought = {"type": "thinking", "thinking": words(dice), "signature": f"{dice.getrandbits(200):x}"}
        messages.append({"role": "assistant", "content": [thought, block(words(dice)), call]})
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": content(words(dice))}
        messages.append({"role": "user", "content": [result]})
    systems: list[Any] = [None, "", words(dice), [], [block(words(dice))], [block(words(dice)), block(words(dice))]]
    system = dice.choice(systems)
    body = {"model": "claude-9", "max_tokens": 512, "messages": messages, "temperature": 1.0}
    body |= {"stream": True} if stream else {}
    return body if system is None else {**body, "system": system}


def _chat(dice: random.Random, turns: list[tuple[str, str]], said: str, stream: bool) -> dict[str, Any]:
    def content(text: str) -> Any:
        return text if dice.random() < 0.6 else [{"type": "text", "text": text}]

    role = dice.choice(("system", "developer"))
    messages: list[dict[str, Any]] = [
        {"role": role, "content": content(words(dice))} for _ in range(dice.randint(0, 2))
    ]
    for asked, answered in turns:
        messages += [{"role": "user", "content": content(asked)}, {"role": "assistant", "content": answered}]
    messages.append({"role": "user", "content": content(said)})
    if dice.random() < 0.3:
        function = {"name": "read", "arguments": json.dumps({"path": words(dice)})}
        id = f"call_{dice.randint(0, 1 << 60)}"
        messages.append(
            {"role": "assistant", "content": None, "tool_calls": [{"id": id, "type": "function", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": id, "content": words(dice)})
    return {"model": "gpt-9", "messages": messages, "top_p": 0.5, **({"stream": True} if stream else {})}


def _responses(dice: random.Random, turns: list[tuple[str, str]], said: str, stream: bool) -> dict[str, Any]:
    def item(role: str, text: str, kind: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}

    if not turns and dice.random() < 0.4:
        given: Any = said
    else:
        given = [item("developer", words(dice), "input_text") for _ in range(dice.randint(0, 2))]
        for asked, answered in turns:
            given += [item("user", asked, "input_text"), item("assistant", answered, "output_text")]
        given.append(item("user", said, "input_text"))
        if dice.random() < 0.3:
            id = f"call_{dice.randint(0, 1 << 60)}"
            given += [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": f"{dice.getrandbits(300):x}"},
                {
                    "type": "function_call",
                    "call_id": id,
                    "name": "shell",
                    "arguments": json.dumps({"cmd": words(dice)}),
                },
                {"type": "function_call_output", "call_id": id, "output": words(dice)},
            ]
    body = {"model": "gpt-9", "input": given, "store": False, **({"stream": True} if stream else {})}
    if dice.random() < 0.4:
        body["instructions"] = dice.choice(("", words(dice), None))
    return body


def _gemini(dice: random.Random, turns: list[tuple[str, str]], said: str, stream: bool) -> dict[str, Any]:
    contents: list[dict[str, Any]] = []
    for asked, answered in turns:
        contents += [{"role": "user", "parts": [{"text": asked}]}, {"role": "model", "parts": [{"text": answered}]}]
    contents.append({"role": "user", "parts": [{"text": said}]})
    if dice.random() < 0.3:
        contents.append({"role": "model", "parts": [{"functionCall": {"name": "read", "args": {"path": words(dice)}}}]})
        given = {"name": "read", "response": {"output": words(dice)}}
        contents.append({"role": "user", "parts": [{"functionResponse": given}]})
    body: dict[str, Any] = {"contents": contents, "generationConfig": {"temperature": 0.25}}
    parts = [{"text": words(dice)} for _ in range(dice.randint(0, 2))]
    name = dice.choice(("systemInstruction", "system_instruction", ""))
    return {**body, name: {"parts": parts}} if name else body


_BODIES = {"anthropic": _anthropic, "chat": _chat, "responses": _responses, "gemini": _gemini}


def answer_events(wire: str, text: str, dice: random.Random) -> list[bytes]:
    """An answer as the events of a stream, whole ones; `text` comes in pieces."""
    pieces, rest = [], text
    while rest:
        size = dice.randint(1, 9)
        pieces.append(rest[:size])
        rest = rest[size:]
    return _EVENTS[wire](pieces or [""], text)


def answer_whole(wire: str, text: str) -> bytes:
    return json.dumps(_WHOLE[wire](text), ensure_ascii=False).encode()


def _event(data: Any, name: str = "") -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _anthropic_events(pieces: list[str], text: str) -> list[bytes]:
    message = {**_anthropic_whole(""), "content": [], "stop_reason": None}
    rows: list[dict[str, Any]] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}
            for piece in pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": "end_turn", "stop_sequence": None},
            "usage": {"output_tokens": 9},
        },
        {"type": "message_stop"},
    ]
    return [_event(row, str(row["type"])) for row in rows]


def _anthropic_whole(text: str) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-9",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 12, "output_tokens": 9},
    }


def _chat_events(pieces: list[str], text: str) -> list[bytes]:
    def chunk(delta: dict[str, str], reason: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return _event(
            {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-9", "choices": [choice]}
        )

    usage = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
    last = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "gpt-9",
        "choices": [],
        "usage": usage,
    }
    begin = chunk({"role": "assistant", "content": ""})
    said = [chunk({"content": piece}) for piece in pieces]
    return [begin, *said, chunk({}, "stop"), _event(last), b"data: [DONE]\n\n"]


def _chat_whole(text: str) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-9",
        "choices": [choice],
        "usage": usage,
    }


def _item(text: str) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}


def _responses_whole(text: str) -> dict[str, Any]:
    usage = {
        "input_tokens": 12,
        "output_tokens": 9,
        "total_tokens": 21,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens_details": {"reasoning_tokens": 0},
    }
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "gpt-9",
        "output": [_item(text)],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }


def _responses_events(pieces: list[str], text: str) -> list[bytes]:
    begun = {**_responses_whole(""), "status": "in_progress", "output": [], "usage": None}
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    rows: list[dict[str, Any]] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": {**_item(""), "content": []}},
        {
            "type": "response.content_part.added",
            **place,
            "part": {"type": "output_text", "text": "", "annotations": []},
        },
        *({"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []} for piece in pieces),
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": _item(text)},
        {"type": "response.completed", "response": _responses_whole(text)},
    ]
    return [_event({**row, "sequence_number": number}, str(row["type"])) for number, row in enumerate(rows)]


def _gemini_whole(text: str, reason: str | None = "STOP") -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 12, "candidatesTokenCount": 9}}


def _gemini_events(pieces: list[str], text: str) -> list[bytes]:
    last = len(pieces) - 1
    return [_event(_gemini_whole(piece, "STOP" if place == last else None)) for place, piece in enumerate(pieces)]


_EVENTS = {
    "anthropic": _anthropic_events,
    "chat": _chat_events,
    "responses": _responses_events,
    "gemini": _gemini_events,
}
_WHOLE = {"anthropic": _anthropic_whole, "chat": _chat_whole, "responses": _responses_whole, "gemini": _gemini_whole}
