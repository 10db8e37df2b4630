"""Records of a Gemini CLI chat as the program writes them: one object, or since spring 2026 a log with patches."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from catmem.clients.draft import record_of, records_in, text_of

Record = Mapping[str, Any]

# Who speaks, by the type of a message. `model` is an early spelling of `gemini`.
SPEAKERS = {
    "user": "user",
    "gemini": "assistant",
    "model": "assistant",
    "info": "system",
    "error": "system",
    "warning": "system",
}
USAGE = {"input": "input_tokens", "output": "output_tokens", "cached": "cache_read_input_tokens"}


def is_head(record: object) -> bool:
    """True for the record of a session: its first line, or the whole of the older form."""
    if not isinstance(record, dict) or "type" in record or "role" in record:
        return False
    return isinstance(record.get("sessionId"), str) and ("projectHash" in record or "startTime" in record)


def is_chat(records: Sequence[object]) -> bool:
    """True if one of the records is of this program only."""
    return any(is_head(r) or is_patch(r) or (is_message(r) and record_of(r)["type"] == "gemini") for r in records)


def is_patch(record: object) -> bool:
    return isinstance(record, dict) and ("$set" in record or "$rewindTo" in record)


def is_message(record: Any) -> bool:
    known = isinstance(record, dict) and text_of(record.get("type")) in SPEAKERS
    return known and "content" in record and "uuid" not in record


def parts_of(content: object) -> list[Record]:
    """The parts of a content; a bare text is one part, a thought is none."""
    if isinstance(content, str):
        return [{"text": content}]
    items = content if isinstance(content, list) else [content]
    parts = [{"text": item} if isinstance(item, str) else record_of(item) for item in items]
    return [part for part in parts if part and not part.get("thought")]


def texts_of(content: object) -> list[str]:
    """What the parts of a content say; data is named, not kept."""
    texts = []
    for part in parts_of(content):
        data = record_of(part.get("inlineData") or part.get("fileData"))
        texts.append(f"[{text_of(data.get('mimeType')) or 'data'}]" if data else text_of(part.get("text")))
    return [text for text in texts if text]


def responses_in(content: object) -> list[tuple[str, str]]:
    """The results of tools in a content: call id and output."""
    found = [record_of(part.get("functionResponse")) for part in parts_of(content)]
    return [(text_of(one.get("id")), output_of(one)) for one in found if one]


def output_of(response: Record) -> str:
    inner = response.get("response")
    output = record_of(inner).get("output", inner)
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def calls_of(message: Record) -> list[Record]:
    return records_in(message.get("toolCalls"))


def result_of(call: Record) -> str | None:
    """What a call returned; None if that is not written with it."""
    result = call.get("result")
    if isinstance(result, str):
        return result
    found = [output for _, output in responses_in(result)] or texts_of(result) if result else []
    if found:
        return "\n".join(found)
    shown = text_of(call.get("resultDisplay"))
    return shown or (f"[{call['status']}]" if call.get("status") in ("error", "cancelled") else None)
